#include "fleet/text_parts.h"

#include "base/json_text.h"

namespace regraph::fleet {
namespace {

constexpr JsonLimits kHead = {std::size_t{16} << 20, 6};

}  // namespace

std::string join_parts(const nlohmann::ordered_json& head, std::string_view body) {
  return json_line(head) + "\n" + std::string(body);
}

Result<TextParts> split_parts(std::string_view text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return fail(ErrorCode::parse, "no line of JSON in front");
  auto head = parse_json(text.substr(0, end), kHead);
  if (!head) return std::move(head).error();
  if (!head->is_object()) return fail(ErrorCode::parse, "the first line is no JSON object");
  return TextParts{std::move(*head), text.substr(end + 1)};
}

}  // namespace regraph::fleet
