// A loop that finds the largest of some values, and one that adds up weights exp(value - largest)
// of the same values: both can be one loop. Used by online_fusion.
#pragma once

#include "base/result.h"
#include "rewrite/analysis/reduction_loop.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <string>
#include <vector>

namespace regraph::rewrite {

struct OnlineLoops {
  StmtPtr maximum_loop;
  StmtPtr sum_loop;  // behind it, in the same block
  Reduction maximum;
  // The sum loop's body, in which the maximum is mentioned by weights alone, and the statement of
  // it in front of which the running maximum has to be known.
  Block body;
  std::size_t position = 0;
  ExprPtr value;                       // as the body computes it
  std::string exponential;             // "expf"
  std::vector<Variable> accumulators;  // what weights are added to
  // The maximum may be minus infinity for some iterations, or at the end.
  bool may_be_infinite = true;
  ExprPtr runs;  // whether the loops run at all; null: they do
};

// Whether the expression is exponential(value - maximum).
[[nodiscard]] bool is_weight(const ExprPtr& expr, const std::string& maximum);

// The first pair of such loops. Error: refused, with what is in the way of the pair that came
// closest.
[[nodiscard]] Result<OnlineLoops> online_loops(const Kernel& kernel, const Analysis& analysis);

}  // namespace regraph::rewrite
