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

// How two runs with the same inputs and the same poison differ more than they may, with the
// element; nothing when they do not. Without atomic additions of floats every bit must agree; with
// them, floating types may differ by a tenth of their tolerance: the rest is a race. Arguments that
// may be raced on are not looked at.
[[nodiscard]] std::optional<std::string> difference_of_runs(
    const Problem& problem, const Symbols& symbols, const Buffers& first, const Buffers& again,
    bool adds_floats_atomically, const Arithmetic& arithmetic);

}  // namespace regraph::verify
