// How long a server asks to be left alone: the Retry-After header (RFC 9110, 10.2.3).
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace regraph::llm {

// Reads an HTTP date in any of its three forms (RFC 9110, 5.6.7), e.g.
// "Sun, 06 Nov 1994 08:49:37 GMT". Nothing if it is none.
[[nodiscard]] std::optional<std::chrono::sys_seconds> parse_http_date(std::string_view text);

// Returns the seconds from `now` (the server's own clock where it told it) that a Retry-After value
// asks for, 0 or more. Takes whole and decimal seconds and dates; nothing if it is neither.
[[nodiscard]] std::optional<double> parse_retry_after(std::string_view value,
                                                      std::chrono::sys_seconds now);

}  // namespace regraph::llm
