#include "fleet/queue/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace regraph::fleet {
namespace {

Status check_characters(const char* what, std::string_view name, std::string_view marks,
                        std::size_t most) {
  const auto allowed = [&](char character) {
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
           (character >= '0' && character <= '9') || marks.find(character) != marks.npos;
  };
  if (!name.empty() && name.size() <= most && std::all_of(name.begin(), name.end(), allowed))
    return {};
  return fail(ErrorCode::invalid_argument,
              fmt::format("'{}' is no name of a {}: 1 to {} letters, digits, '{}' and '{}'",
                          name.substr(0, most), what, most, marks[0], marks[1]));
}

}  // namespace

Status check_lane(std::string_view lane) {
  return check_characters("lane", lane, "-.", 100);
}

Status check_key(std::string_view key) {
  return check_characters("notice", key, "-_", 200);
}

}  // namespace regraph::fleet
