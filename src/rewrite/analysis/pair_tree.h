// Recognises a tree over two shared arrays that hold pairs of a value and a place:
//
//   if (t < s) { if (values[t + s] > values[t] || (equal and places[t + s] < places[t])) both = ...; }
//
// Legal to take apart when equal values are told apart by their places: then which pair comes out
// does not depend on the shape of the tree.
#pragma once

#include "base/result.h"
#include "kernel/launch_plan.h"
#include "source/analysis.h"

#include <string>

namespace regraph::rewrite {

struct PairTree {
  // Shared, one-dimensional, as long as the block at least.
  const source::Variable* values = nullptr;
  const source::Variable* places = nullptr;
  // As in PairChoice.
  source::BinaryOperator relation = source::BinaryOperator::greater;
  source::BinaryOperator tie = source::BinaryOperator::less;
};

// Matches the statement at `position` of the kernel's body; the arrays belong to `analysis`. Error:
// refused, with what differs from a tree.
[[nodiscard]] Result<PairTree> match_pair_tree(const source::Kernel& kernel,
                                               const source::Analysis& analysis,
                                               std::size_t position, const Dim3& block);

}  // namespace regraph::rewrite
