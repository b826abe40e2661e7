// Makes missing barriers show on an interpreter that runs warps one after another.
#pragma once

#include "kernel/launch_plan.h"

#include <optional>
#include <string>

namespace regraph::verify {

// Returns `ptx` with the threads of a block renumbered so that its warps do their work in reverse
// order: bits 5 and up of the linear thread number are inverted wherever %tid is read. Lanes stay
// where they are, so shuffles and coalescing do not change, and a kernel with all its barriers
// computes the same. Where there is wgmma, groups of four warps are reversed instead: which rows a
// warp multiplies is not for %tid to say. Nothing when the extents of the block are not powers of
// two, there is one warp or group only, or %tid is read in another way than by an unconditional
// mov.u32.
[[nodiscard]] std::optional<std::string> with_reversed_warps(const std::string& ptx,
                                                             const Dim3& block);

}  // namespace regraph::verify
