// The built-in expander: proposes every step that is legal for a candidate and applies it.
#pragma once

#include "kernel/device_limits.h"
#include "kernel/problem.h"
#include "regraph/expander.h"
#include "rewrite/forms/ir.h"
#include "rewrite/launch_view.h"

#include <map>
#include <string>
#include <utility>

namespace regraph::rewrite {

// Of several launches only that of the kernel to optimise is changed. Stateless beyond its problem;
// thread-safe. Candidates without a parsed form (opaque kernels) get
// no proposals, and apply refuses them.
class AstRewriter final : public Expander {
 public:
  // `problem` must outlive the rewriter. `limits` are those of the device that candidates are to
  // run on.
  AstRewriter(const Problem& problem, DeviceLimits limits)
      : view_(problem), limits_(std::move(limits)) {}

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
  // The steps that match; none once the caller asked to stop.
  [[nodiscard]] std::vector<StepProposal> matching(const Candidate& candidate,
                                                   const Cancellation& cancellation) const;

  const LaunchView view_;
  const DeviceLimits limits_;
};

}  // namespace regraph::rewrite
