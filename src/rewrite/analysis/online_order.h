// What stands between two loops over the same values, and in the second, must leave the values
// alone. Used by online_loops.
#pragma once

#include "base/result.h"
#include "rewrite/analysis/loop_value.h"
#include "source/analysis.h"
#include "source/ir.h"

#include <cstddef>

namespace regraph::rewrite {

// The loops are statements `first` and `second` of the block; `value` is what the first compares,
// `weighted` the same in the second. Error: refused, with what changes them, or what the loops
// could not be moved across.
[[nodiscard]] Status require_unchanged(const source::Block& block, std::size_t first,
                                       std::size_t second, const LoopValue& value,
                                       const LoopValue& weighted, const source::Analysis& analysis);

// Whether memory is written in front of statement `end` of the block.
[[nodiscard]] bool writes_memory(const source::Block& block, std::size_t end,
                                 const source::Analysis& analysis);

}  // namespace regraph::rewrite
