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

// Halves the prior of a proposal of which a neighbour comes before, where they are taken one after
// the other by what is left of their priors (the first of equal ones first). What a step's
// proposals have together stays the same. As maximal marginal relevance (Carbonell and Goldstein
// 1998) does it. `priors` has one for each proposal: what a search goes by; a policy was trained on
// priors as the ReGraph gives them.
void spread_over_settings(std::span<const StepProposal> proposals, std::vector<double>& priors);

}  // namespace regraph
