// Recognises a tree reduction over a shared array. Used by reduce_shuffle.
#pragma once

#include "base/result.h"
#include "kernel/launch_plan.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <string>

namespace regraph::rewrite {

struct ReductionTree {
  std::string array;  // shared, one-dimensional, as long as the block at least
  std::string type;   // element type
  ScalarType scalar = ScalarType::f32;
  AssignmentOperator op = AssignmentOperator::add;  // unless `function` is used
  std::string function;                             // "fmaxf", ... or empty
  bool halves = false;  // the stride, else it doubles; a halving tree's threads lie side by side

  // target = target op other.
  [[nodiscard]] StmtPtr combine(const ExprPtr& target, const ExprPtr& other) const;
  // Whether `target` is array[threadIdx.x], possibly through a local.
  [[nodiscard]] bool is_own_slot(const ExprPtr& target) const;

  const Analysis* analysis = nullptr;  // of the kernel; must outlive the tree
};

// Matches the top-level statement at `position`. Error: refused, with what differs from a tree.
[[nodiscard]] Result<ReductionTree> match_reduction_tree(const Kernel& kernel,
                                                         const Analysis& analysis,
                                                         std::size_t position, const Dim3& block);

}  // namespace regraph::rewrite
