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

}  // namespace regraph
