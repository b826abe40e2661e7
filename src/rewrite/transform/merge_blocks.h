// Several blocks along an axis as one: what depends on the block's number along the axis is kept C
// times. Used by thread_coarsen.
//
// With groups of one, copies lie a block apart: blockIdx.a becomes blockIdx.a * C + c. With groups
// of G, a thread's copies are G neighbours, and the groups lie G blocks apart:
//
//   C = 4, G = 2, blocks of 3 threads (items of a merged block, by thread and copy)
//
//     item     0  1  2  3  4  5  6  7  8  9 10 11
//     thread   0  0  1  1  2  2  0  0  1  1  2  2
//     copy    00 01 00 01 00 01 10 11 10 11 10 11     (group, place in the group)
//
// so that a thread's neighbours can be read and written as one vector.
#pragma once

#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/forms/ir.h"

#include <string>

namespace regraph::rewrite {

struct BlockMerge {
  const KernelForm& form;  // normalised; must outlive this
  std::string axis;        // "x", ...
  int factor = 0;          // C
  // G, a divisor of C. More than one only where the kernel knows a thread by its uncoarsened global
  // index alone (global_index.h), and without a grid limit.
  int group = 1;
  ExprPtr grid_limit;  // what block numbers are tested against, null where a guard does it
};

// The body of the merged kernel. That blocks can be merged is for the caller to check.
[[nodiscard]] Block merge_blocks(const BlockMerge& merge);

}  // namespace regraph::rewrite
