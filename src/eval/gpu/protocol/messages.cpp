#include "eval/gpu/protocol/messages.h"

namespace regraph::gpu {

Result<nlohmann::json> decode(std::string_view bytes) {
  // Lengths that cannot be are thrown, whatever is asked for.
  try {
    nlohmann::json map = nlohmann::json::from_cbor(bytes, true, false);
    if (map.is_object()) return map;
  } catch (const nlohmann::json::exception&) {
  }
  return fail(ErrorCode::parse, "malformed message: not a map");
}

std::string operation_of(const nlohmann::json& map) {
  const auto found = map.find("op");
  return found != map.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace regraph::gpu
