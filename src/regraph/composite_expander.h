// Several expanders as one: the rewriter where it can, a language model for the rest, say.
#pragma once

#include "regraph/expander.h"

#include <vector>

namespace regraph {

// Members propose in order, each knowing what those before it offer, and a proposal is applied by
// the first member that says it is its own. Thread-safe as its members are.
class CompositeExpander final : public Expander {
 public:
  // The members, at least one, must outlive this.
  explicit CompositeExpander(std::vector<const Expander*> members) : members_(std::move(members)) {}

  [[nodiscard]] std::vector<StepProposal> propose(const Candidate& candidate,
                                                  const ExpansionContext& context,
                                                  const Cancellation& cancellation) const override;
  [[nodiscard]] Result<Candidate> apply(const Candidate& candidate, const StepProposal& proposal,
                                        int variant, const ExpansionContext& context,
                                        const Cancellation& cancellation) const override;
  [[nodiscard]] bool owns(const StepProposal& proposal) const override;
  [[nodiscard]] bool repeatable(const StepProposal& proposal) const override;
  // When every member does.
  [[nodiscard]] bool proposes_freely() const override;
  // When any member does.
  [[nodiscard]] bool wants_story() const override;
  // By every member in turn: those that attach nothing hand it on as it is.
  [[nodiscard]] Result<Candidate> restore(const Candidate& stored) const override;
  // The longest of the members'.
  [[nodiscard]] double longest_seconds() const override;

 private:
  // Null when nobody says that it is its own.
  [[nodiscard]] const Expander* owner(const StepProposal& proposal) const;

  std::vector<const Expander*> members_;
};

}  // namespace regraph
