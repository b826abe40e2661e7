// Which of a kernel's loops a step works on: steps with several candidates offer each of them.
#pragma once

#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <array>
#include <vector>

namespace regraph::rewrite {

// Settings of a "loop" parameter: the first, second and third loop in program order that suits the
// step. More would multiply the search's choices for kernels that hardly exist.
inline constexpr std::array<const char*, 3> kLoopChoices = {"1", "2", "3"};

// #pragma unroll 1: keeps the compiler from unrolling the remainder of a loop, and steps from
// working on it.
inline constexpr int kNeverUnroll = 1;

// The `for` loops below the block, in program order, that hold no loops but such as are unrolled
// completely; those are left out.
[[nodiscard]] std::vector<StmtPtr> innermost_loops(const Block& block);

// The `for` loops below the block that are unrolled completely and hold no loop, in program order.
[[nodiscard]] std::vector<StmtPtr> written_out_loops(const Block& block);

// The `for` loops that every thread of a block executes the same number of times, at the same time:
// those that stand in nothing but such loops, in program order. For a normalised kernel.
[[nodiscard]] std::vector<StmtPtr> loops_all_reach(const Block& block, const Analysis& analysis);

// Whether the loop has the same bounds for all threads of a block, and no early way out.
[[nodiscard]] bool is_uniform(const ForLoop& loop, const Analysis& analysis);

// Whether a loop that stays one is below the block.
[[nodiscard]] bool holds_loop(const Block& block);

}  // namespace regraph::rewrite
