// Whether blocks can be merged. Used by thread_coarsen.
#pragma once

#include "base/result.h"
#include "rewrite/transform/merge_blocks.h"

#include <cstdint>

namespace regraph::rewrite {

// Whether the blocks can be merged, with at most `most_copies` copies of a scalar. Error: refused.
[[nodiscard]] Status check_merge(const BlockMerge& merge, int most_copies);

// Bytes of static shared memory that the merged kernel declares.
[[nodiscard]] std::int64_t merged_shared_bytes(const BlockMerge& merge);

}  // namespace regraph::rewrite
