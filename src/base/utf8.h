// Whether bytes are text.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace regraph {

// Returns the offset of the first byte that is not part of well-formed UTF-8 (Unicode 15, table
// 3-7: no overlong forms, surrogates or values beyond U+10FFFF), or nothing.
[[nodiscard]] std::optional<std::size_t> find_invalid_utf8(std::string_view text);

}  // namespace regraph
