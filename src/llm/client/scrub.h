// Text from a server, made fit to be shown and stored.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace regraph::llm {

// A shorter key is a placeholder ("none", "EMPTY") and no secret; to remove it would tear words.
inline constexpr std::size_t kShortestSecret = 6;

// Returns `text` with every occurrence of `key` replaced by "[key]": as it is, as JSON may write it
// (with "\/"), percent-encoded, and cut off after its first half (at least 12 characters). Scrub
// first, cut afterwards: a part of a key is a secret too.
[[nodiscard]] std::string scrub(std::string_view text, std::string_view key);

// Returns `text` on one line for a message: control characters and bytes that are not UTF-8
// become spaces, runs of spaces one, and what is beyond `limit` bytes becomes "...".
[[nodiscard]] std::string excerpt(std::string_view text, std::size_t limit);

}  // namespace regraph::llm
