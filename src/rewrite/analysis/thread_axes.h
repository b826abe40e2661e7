// The axes x and y of a block: how accesses lie along them, and whether they may change places.
#pragma once

#include "base/result.h"
#include "kernel/launch_plan.h"
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <string>

namespace regraph::rewrite {

// How far global accesses are from coalesced along `axis`: loads whose address moves by anything
// but 0 or 1 element count twice, stores (which do not wait) once.
[[nodiscard]] int misalignment(const Kernel& kernel, const Analysis& analysis,
                               const std::string& axis, const Dim3& block);

// The launch with x and y exchanged. A pure renaming of the thread space: legal whenever nothing
// depends on which threads share a warp. Error: refused; whether the device does such a launch is
// not asked.
[[nodiscard]] Result<Launch> launch_with_axes_exchanged(const KernelAnalysis& kernel);

}  // namespace regraph::rewrite
