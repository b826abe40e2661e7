#include "kernel/candidate.h"

namespace regraph {

Hash128 candidate_identity(const std::string& canonical_source, const LaunchPlan& plan) {
  return Hasher().add(canonical_source).add(plan.text()).finish();
}

}  // namespace regraph
