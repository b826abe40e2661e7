// The path of a search done again without one of its steps: kernels of which it is known what the
// missing step is worth.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "kernel/candidate.h"
#include "regraph/expander.h"

#include <string>
#include <vector>

namespace regraph::learn {

struct Ablation {
  std::string step;  // StepProposal::text of the one left out
  Candidate candidate;
};

struct AblatedPath {
  std::vector<Candidate> states;     // the original, then what each step led to
  std::vector<Ablation> ablations;   // in the order of the path
  std::vector<std::string> skipped;  // why a step cannot be left out
};

// Does `path` (StepProposal::text of its steps) again, and once more without each of its steps but
// the last: what is left then is the beginning of the path, which the search has seen. A step is
// left out where all that follow are offered again with the same settings. Judges nothing. Errors:
// refused, where the path itself cannot be done any more; cancelled.
[[nodiscard]] Result<AblatedPath> ablate_path(const Candidate& original, const Expander& expander,
                                              const std::vector<std::string>& path,
                                              const Cancellation& cancellation);

}  // namespace regraph::learn
