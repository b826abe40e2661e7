// A kernel state: device code and launch plan. Immutable once made.
#pragma once

#include "base/hash.h"
#include "kernel/launch_plan.h"

#include <memory>
#include <string>
#include <vector>

namespace regraph {

// A parsed form of the source that a higher floor may attach, so that its result needs no second
// parse. This floor knows nothing about it.
class CandidateForm {
 public:
  virtual ~CandidateForm() = default;
};

struct Candidate {
  std::string source;  // CUDA C++ text, compiles on its own
  LaunchPlan plan;
  std::vector<std::string> assumptions;  // what this candidate needs beyond the original, sorted
  // Identity for merging: equal for sources that differ only in formatting or local names. Made by
  // whoever makes the candidate, from the canonical text and the plan.
  Hash128 identity;
  std::shared_ptr<const CandidateForm> form;  // may be null
};

// Identity from a canonical source text and a plan.
[[nodiscard]] Hash128 candidate_identity(const std::string& canonical_source,
                                         const LaunchPlan& plan);

}  // namespace regraph
