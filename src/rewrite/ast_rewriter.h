// The built-in expander: proposes every step that is legal for a candidate and applies it.
#pragma once

#include "kernel/problem.h"
#include "regraph/expander.h"
#include "rewrite/analysis/launch_view.h"
#include "rewrite/analysis/step_rewriter.h"

#include <map>
#include <string>

namespace regraph::rewrite {

// Of several launches only that of the kernel to optimise is changed. Stateless beyond its problem;
// thread-safe. Candidates without a parsed form (opaque kernels) get
// no proposals, and apply refuses them.
class AstRewriter final : public Expander {
 public:
  // `problem` must outlive the rewriter.
  explicit AstRewriter(const Problem& problem) : view_(problem) {}

  [[nodiscard]] std::vector<StepProposal> propose(const Candidate& candidate,
                                                  const ExpansionContext& context,
                                                  const Cancellation& cancellation) const override;
  [[nodiscard]] Result<Candidate> apply(const Candidate& candidate, const StepProposal& proposal,
                                        int variant, const ExpansionContext& context,
                                        const Cancellation& cancellation) const override;

  // Those that nobody else claims.
  [[nodiscard]] bool owns(const StepProposal& proposal) const override {
    return !proposal.parameters.contains(kAppliedBy);
  }

  // Why steps do not apply to the candidate: "step(parameters)" -> reason. For reports.
  [[nodiscard]] std::map<std::string, std::string> refusals(const Candidate& candidate) const;

 private:
  const LaunchView view_;
};

}  // namespace regraph::rewrite
