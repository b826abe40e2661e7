// The seam between the search and a model that has learned which edges pay.
#pragma once

#include "kernel/candidate.h"
#include "regraph/expander.h"

#include <string>
#include <vector>

namespace regraph {

// Called from worker threads, several calls at once; must be thread-safe and deterministic: a
// search that is done again has to come to the same priors. What it said is recorded with the
// states.
class EdgeScorer {
 public:
  virtual ~EdgeScorer() = default;
  // Sets the score of each proposal. Of `context` evaluation, history and
  // original_seconds are set.
  virtual void score(const Candidate& candidate, const ExpansionContext& context,
                     std::vector<StepProposal>& proposals) const = 0;
  // Names the model in results, with the hash of its file.
  [[nodiscard]] virtual std::string description() const = 0;
};

}  // namespace regraph
