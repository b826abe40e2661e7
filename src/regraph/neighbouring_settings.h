// Settings of one step that are next to each other: what one of them brings the other is likely to
// bring, so that they are tried one after others that differ more.
#pragma once

#include "regraph/step_proposal.h"

#include <span>
#include <vector>

namespace regraph {

// Whether two proposals are of one step and differ in one number, by a factor of two at most:
// thread_coarsen(factor=4) and thread_coarsen(factor=8). Numbers below four are taken for names (of
// loops, of axes).
[[nodiscard]] bool are_neighbours(const StepProposal& a, const StepProposal& b);

// Halves a score for each neighbour that comes before, where the proposals are taken one after the
// other by what is left of their scores (the first of equal ones first). What a step's proposals
// have together stays the same. As maximal marginal relevance (Carbonell and Goldstein 1998) does
// it. `scores` has one for each proposal.
void spread_over_settings(std::span<const StepProposal> proposals, std::vector<double>& scores);

}  // namespace regraph
