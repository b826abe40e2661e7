#include "regraph/composite_expander.h"

#include <algorithm>

namespace regraph {

const Expander* CompositeExpander::owner(const StepProposal& proposal) const {
  const auto found =
      std::ranges::find_if(members_, [&](const Expander* one) { return one->owns(proposal); });
  return found == members_.end() ? nullptr : *found;
}

std::vector<StepProposal> CompositeExpander::propose(const Candidate& candidate,
                                                     const ExpansionContext& context,
                                                     const Cancellation& cancellation) const {
  std::vector<StepProposal> proposals;
  for (const Expander* member : members_)
    member->add_proposals(candidate, context, proposals, cancellation);
  return proposals;
}

Result<Candidate> CompositeExpander::apply(const Candidate& candidate, const StepProposal& proposal,
                                           int variant, const ExpansionContext& context,
                                           const Cancellation& cancellation) const {
  const Expander* member = owner(proposal);
  if (member == nullptr) return fail(ErrorCode::refused, "nobody applies " + proposal.text());
  return member->apply(candidate, proposal, variant, context, cancellation);
}

bool CompositeExpander::owns(const StepProposal& proposal) const {
  return owner(proposal) != nullptr;
}

bool CompositeExpander::repeatable(const StepProposal& proposal) const {
  const Expander* member = owner(proposal);
  return member == nullptr || member->repeatable(proposal);
}

bool CompositeExpander::proposes_freely() const {
  return std::ranges::all_of(members_, [](const Expander* one) { return one->proposes_freely(); });
}

bool CompositeExpander::wants_story() const {
  return std::ranges::any_of(members_, [](const Expander* one) { return one->wants_story(); });
}

Result<Candidate> CompositeExpander::restore(const Candidate& stored) const {
  Candidate candidate = stored;
  for (const Expander* member : members_) {
    auto restored = member->restore(candidate);
    if (!restored) return restored;
    candidate = std::move(*restored);
  }
  return candidate;
}

double CompositeExpander::longest_seconds() const {
  double longest = 0.0;
  for (const Expander* member : members_)
    longest = std::max(longest, member->longest_seconds());
  return longest;
}

}  // namespace regraph
