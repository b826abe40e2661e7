// The tile of a matrix product as a whole: its extents, warps and stages pay together where each of
// them alone loses.
#pragma once

#include "base/result.h"
#include "kernel/problem.h"
#include "regraph/expander.h"
#include "triton/kernel_text.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace regraph::triton {

// Names of the constants that are the tile's extents.
struct DotTile {
  std::string rows;     // of the accumulator
  std::string columns;  // of it
  std::string depth;    // what a turn of the loop takes of the contraction
};

// Nothing where the kernel has no tl.dot in a loop, or the extents cannot be told from what it
// reads: tl.zeros((ROWS, COLUMNS)), range(..., ..., DEPTH).
[[nodiscard]] std::optional<DotTile> dot_tile_of(const KernelText& text);

// Steps `dot_tile` to other tiles that fit the shared memory of a multiprocessor.
[[nodiscard]] std::vector<StepProposal> dot_tile_proposals(const KernelText& text);

// Errors: refused.
[[nodiscard]] Result<KernelText> with_dot_tile(KernelText text, const StepProposal& proposal);

}  // namespace regraph::triton
