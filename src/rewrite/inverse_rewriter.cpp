#include "rewrite/inverse_rewriter.h"

#include "rewrite/candidate_state.h"
#include "source/missing_operand.h"

namespace regraph::rewrite {

Result<Candidate> InverseRewriter::apply(const InverseRewrite& inverse,
                                         const Candidate& candidate) const {
  const auto state = state_of(candidate, view_);
  if (!state) return state.error();
  auto slower = without_missing_operands(
      [&] { return apply_inverse(inverse, KernelAnalysis(*state, view_.problem(), limits_)); });
  if (!slower) return std::move(slower).error();
  return candidate_of(std::move(*slower), candidate, view_);
}

}  // namespace regraph::rewrite
