// Whether the blocks of a launch do equally much, and blocks that stand for them where they do not.
//
// Two blocks tell all of a kernel whose blocks are alike. Of a set of points that are iterated
// until they escape, of sparse rows, of the blocks above and below a diagonal they may tell the
// opposite.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "eval/model/prepared_launch.h"

#include <cstdint>
#include <vector>

namespace regraph {

struct BlockSpread {
  std::vector<std::uint64_t> blocks;  // that were run: linear ids, ascending
  double mean = 0.0;                  // warp instructions a block
  // Standard error of the mean over the mean, from the blocks that were run.
  double relative_error = 0.0;
};

// At most `count` blocks of a grid of `grid`, one of each of as many equal parts, in an order that
// covers the grid from the first few on. The same at every call.
[[nodiscard]] std::vector<std::uint64_t> spread_blocks(std::uint64_t grid, std::uint64_t count);

// Runs blocks that are spread over the grid, without counters, until they have taken `instructions`
// warp instructions, but never fewer than two. A fault of a block ends it: what ran before counts.
// `prepared` has memory of its own afterwards as the blocks left it.
[[nodiscard]] BlockSpread measure_spread(const ptx::Program& program, PreparedLaunch& prepared,
                                         std::uint64_t instructions,
                                         const Cancellation& cancellation);

}  // namespace regraph
