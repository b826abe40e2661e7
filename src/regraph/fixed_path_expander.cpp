#include "regraph/fixed_path_expander.h"

#include <algorithm>

namespace regraph {

std::vector<StepProposal> FixedPathExpander::propose(const Candidate&,
                                                     const ExpansionContext& context,
                                                     const Cancellation&) const {
  const std::size_t done = context.history.size();
  const bool is_on_path =
      done < path_.size() &&
      std::ranges::equal(context.history.begin(), context.history.end(), path_.begin(),
                         path_.begin() + static_cast<std::ptrdiff_t>(done), {}, {},
                         &StepProposal::step);
  return is_on_path ? std::vector<StepProposal>{path_[done]} : std::vector<StepProposal>{};
}

Result<Candidate> FixedPathExpander::apply(const Candidate& candidate, const StepProposal& proposal,
                                           int variant, const ExpansionContext& context,
                                           const Cancellation& cancellation) const {
  auto applied = steps_.apply(candidate, proposal, variant, context, cancellation);
  if (!applied) {
    const std::scoped_lock lock(mutex_);
    if (!refusal_) refusal_ = proposal.text() + ": " + applied.error().message;
  }
  return applied;
}

std::optional<std::string> FixedPathExpander::refusal() const {
  const std::scoped_lock lock(mutex_);
  return refusal_;
}

}  // namespace regraph
