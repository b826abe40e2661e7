#include "regraph/expander.h"

#include <iterator>

namespace regraph {

std::string StepProposal::text() const {
  std::string result = step;
  if (parameters.empty()) return result;
  result += '(';
  const char* separator = "";
  for (const auto& [name, value] : parameters) {
    result += separator + name + '=' + value;
    separator = ", ";
  }
  result += ')';
  return result;
}

void Expander::add_proposals(const Candidate& candidate, const ExpansionContext& context,
                             std::vector<StepProposal>& proposals,
                             const Cancellation& cancellation) const {
  std::vector<StepProposal> own = propose(candidate, context, cancellation);
  proposals.insert(proposals.end(), std::make_move_iterator(own.begin()),
                   std::make_move_iterator(own.end()));
}

}  // namespace regraph
