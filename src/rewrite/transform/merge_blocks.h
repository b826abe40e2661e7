// Several blocks along an axis as one: blockIdx.a becomes blockIdx.a * C + c, and what depends on
// it is kept C times. Used by thread_coarsen.
#pragma once

#include "base/result.h"
#include "rewrite/analysis/kernel_analysis.h"
#include "source/ir.h"

#include <cstdint>
#include <string>

namespace regraph::rewrite {

struct BlockMerge {
  const KernelForm& form;      // normalised; must outlive this
  std::string axis;            // "x", ...
  int factor = 0;              // C
  source::ExprPtr grid_limit;  // what block numbers are tested against, null where a guard does it
};

// Whether the blocks can be merged, with at most `most_copies` copies of a scalar. Error: refused.
[[nodiscard]] Status check_merge(const BlockMerge& merge, int most_copies);

// Bytes of static shared memory that the merged kernel declares.
[[nodiscard]] std::int64_t merged_shared_bytes(const BlockMerge& merge);

// The body of the merged kernel, for which check_merge finds nothing.
[[nodiscard]] source::Block merge_blocks(const BlockMerge& merge);

}  // namespace regraph::rewrite
