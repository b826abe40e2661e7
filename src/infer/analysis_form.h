// The kernel in the form that bounds are read from. For analysis only: it is never printed.
#pragma once

#include "source/ir.h"

#include <cstdint>
#include <optional>
#include <string>

namespace regraph::infer {

// Early returns become guards, where that is possible; conditions that have a name are written
// out. Locals that straight-line code at the top
// level assigns anew get a new name there, so that every name has one value. Quotients and
// remainders of a thread index by a constant become variables with names such as "threadIdx.x/32".
[[nodiscard]] source::Kernel analysis_form(const source::Kernel& kernel);

// The kernel with buffers themselves in the place of pointers into them, and a name for each value
// that a scalar gets one after another. The kernel itself where it holds opaque code. For analysis
// only, too: accesses are taken to be of buffers that do not overlap.
[[nodiscard]] source::Kernel indexed_form(const source::Kernel& kernel);

// Such a variable taken apart again.
struct ThreadFraction {
  std::string index;  // "threadIdx.x"
  bool is_quotient = true;
  std::int64_t divisor = 1;
};
[[nodiscard]] std::optional<ThreadFraction> thread_fraction(const std::string& name);

}  // namespace regraph::infer
