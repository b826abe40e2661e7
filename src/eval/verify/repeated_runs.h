// Whether a kernel computes the same every time it is launched on the same inputs.
#pragma once

#include "eval/verify/comparison.h"
#include "eval/verify/kernel_run.h"
#include "kernel/problem.h"

#include <optional>
#include <string>
#include <string_view>

namespace regraph::verify {

// Whether PTX adds floating-point numbers atomically: the order, and so the rounding, may then
// differ from launch to launch.
[[nodiscard]] bool adds_floats_atomically(std::string_view ptx);

// Of two runs with the same inputs and the same poison.
struct RunsDifference {
  // More than they may, with the element; nothing: no more.
  std::optional<std::string> message;
  double relative_error = 0.0;  // of floating outputs, the largest; 0 without atomic additions
};

// Without atomic additions of floats every bit must agree; with them, floating types may differ by
// a tenth of their tolerance, or by `allowed` (a relative error) where that is more: the rest is a
// race. Arguments that may be raced on are not looked at.
[[nodiscard]] RunsDifference difference_of_runs(const Problem& problem, const Symbols& symbols,
                                                const Buffers& first, const Buffers& again,
                                                bool adds_floats_atomically,
                                                const Arithmetic& arithmetic, double allowed = 0.0);

}  // namespace regraph::verify
