// Takes away from this process what compiling does not need.
#pragma once

#include <string>
#include <vector>

namespace regraph::compile_internal {

struct SandboxRules {
  std::vector<std::string> readable;  // folders; files below may be read
  std::vector<std::string> runnable;  // read and run as programs
  std::vector<std::string> writable;  // read, made, changed and removed
};

// From here on the process and all that it starts may do with files what `rules` say and nothing
// else: no other files, no TCP, no new privileges. Returns what the running Linux cannot enforce,
// in words; empty when everything holds.
[[nodiscard]] std::string enter_sandbox(const SandboxRules& rules);

}  // namespace regraph::compile_internal
