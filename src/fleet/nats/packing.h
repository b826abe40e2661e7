// Bytes as they travel: compressed where that makes them shorter.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace regraph::fleet {

// Of jobs and results, unpacked; and of notices, of which many are read at once.
inline constexpr std::size_t kLargestText = std::size_t{64} << 20;
inline constexpr std::size_t kLargestNotice = std::size_t{1} << 20;

// A letter that says how, and the bytes: 'z' as a frame of zstd, 'r' as they are.
[[nodiscard]] std::string pack(std::string_view bytes);

// The same, of a text that others must be able to unpack with that `most`. Errors: resource (too
// large).
[[nodiscard]] Result<std::string> pack_text(std::string_view text, std::size_t most = kLargestText);

// What was packed. Whoever packed it may have meant harm: no more than `most` bytes come out and
// not much more memory than that is used, whatever the frame says. Errors: parse.
[[nodiscard]] Result<std::string> unpack(std::string_view packed, std::size_t most);

}  // namespace regraph::fleet
