#include "eval/gpu/messages.h"

namespace regraph::gpu {

Result<nlohmann::json> decode(std::string_view bytes) {
  nlohmann::json map = nlohmann::json::from_cbor(bytes, true, false);
  if (!map.is_object()) return fail(ErrorCode::parse, "malformed message: not a map");
  return map;
}

}  // namespace regraph::gpu
