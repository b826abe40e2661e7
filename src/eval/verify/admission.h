// What a candidate may not contain, whatever it computes: ways to behave differently when it is
// timed than when it is verified, or to keep results from one launch to the next.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace regraph::verify {

// Looks in the candidate's PTX for features that the original does not have: clocks and identities
// of the hardware, cache persistence, early completion, sleeping, output and heap calls, and
// variables in global memory that could carry state between launches. Returns what was found and
// why it matters, or nothing.
[[nodiscard]] std::optional<std::string> find_forbidden(std::string_view candidate_ptx,
                                                        std::string_view original_ptx);

}  // namespace regraph::verify
