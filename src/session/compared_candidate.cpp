#include "session/compared_candidate.h"

#include <utility>

namespace regraph {

ComparedKernel compared(Session& session, const std::string& name,
                        Result<Candidate, SessionError> candidate, ComparisonDepth depth,
                        const Cancellation& cancellation) {
  ComparedKernel result;
  result.name = name;
  if (!candidate) {
    result.no_reason = candidate.error().message;
    return result;
  }
  KernelComparison comparison = session.compare(*candidate, cancellation, depth);
  result.equal = comparison.confirmed;
  result.same_code = comparison.confirmed &&
                     comparison.candidate.machine_code == comparison.original.machine_code &&
                     comparison.candidate.machine_code != Hash128{} &&
                     candidate->plan == session.original().plan;
  result.evaluation = std::move(comparison.candidate);
  result.verdict = comparison.verdict;
  result.speedup = comparison.speedup;
  result.measured = std::move(comparison.measured);
  result.notes = std::move(comparison.notes);
  result.assumes = session.problem().constant_contents();
  result.assumes.insert(result.assumes.end(), session.problem().held_fixed.begin(),
                        session.problem().held_fixed.end());
  if (result.evaluation.facts.contains(kSampledBenchSizes))
    result.assumes.emplace_back(
        "at the bench size blocks that were not compared are like the few that were");
  if (result.evaluation.facts.contains(kVolatileShared))
    result.assumes.emplace_back(
        "lanes of a warp run in lockstep, where shared memory is read through volatile");
  return result;
}

}  // namespace regraph
