// What could be done next with a candidate, and how much a search would expect of each step.
#pragma once

#include "base/cancellation.h"
#include "regraph/expander.h"
#include "report/dry_run.h"
#include "session/expanders.h"
#include "session/session.h"

#include <vector>

namespace regraph {

// In the order of the expander; one prior and its parts for each proposal.
struct RankedSteps {
  std::vector<StepProposal> proposals;
  std::vector<double> priors;
  std::vector<PriorParts> parts;
};

// `context` holds the candidate's evaluation, which is correct.
[[nodiscard]] RankedSteps ranked_steps(const Session& session, const SessionExpander& expander,
                                       const Candidate& candidate, const ExpansionContext& context,
                                       const Cancellation& cancellation);

}  // namespace regraph
