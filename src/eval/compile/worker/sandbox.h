// Takes away from this process what compiling does not need.
#pragma once

#include <string>
#include <vector>

namespace regraph::compile_internal {

// From here on the process may read files below `readable` and nothing else: no writing, no other
// files, no TCP, no new privileges. Returns what the running Linux cannot enforce, in words; empty
// when everything holds.
[[nodiscard]] std::string enter_sandbox(const std::vector<std::string>& readable);

}  // namespace regraph::compile_internal
