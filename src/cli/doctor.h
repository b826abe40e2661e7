// What works on this machine, and what to do about what does not.
#pragma once

#include "base/cancellation.h"
#include "session/installation.h"

#include <string>
#include <vector>

namespace regraph::cli {

inline constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;

struct Finding {
  enum class Level : unsigned char {
    fine,
    note,    // something is slower or less than it could be
    broken,  // no search can run
  };
  Level level = Level::fine;
  std::string subject;  // "CUDA toolkit"
  std::string text;     // what was found, and what to do
};

// Looks at the CUDA toolkit, compiles a kernel in the sandbox, and examines the front end's
// headers, the cache, the ReGraph, processor, memory and driver.
[[nodiscard]] std::vector<Finding> examine_machine(const Installation& installation,
                                                   const Cancellation& cancellation);

// One line a finding, and a verdict.
[[nodiscard]] std::string findings_text(const std::vector<Finding>& findings);

}  // namespace regraph::cli
