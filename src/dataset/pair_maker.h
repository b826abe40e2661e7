// Pairs of kernels for a data set: executed again before they are believed.
#pragma once

#include "base/cancellation.h"
#include "base/hash.h"
#include "base/result.h"
#include "dataset/data_items.h"
#include "kernel/candidate.h"
#include "kernel/evaluation.h"
#include "regraph/expander.h"
#include "score/state_registry.h"
#include "session/session.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace regraph::dataset {

// The problem of a session, to be registered. `name`: "FAMILY/NAME".
[[nodiscard]] score::RegisteredProblem registered_problem(const Session& session,
                                                          const std::string& name,
                                                          const std::string& family);
// The state of a candidate of that problem that is asked for `step` with the values it has.
[[nodiscard]] score::RegisteredState registered_state(const score::RegisteredProblem& problem,
                                                      const Candidate& candidate,
                                                      const StepProposal& step,
                                                      const std::vector<std::string>& history);

struct PairRequest {
  const Candidate& slow;
  const Candidate& fast;
  StepProposal step;                 // empty id: no single step lies between them
  std::vector<std::string> history;  // of the slow one
  std::string description;
};

// Not thread-safe.
class PairMaker {
 public:
  // `session` must outlive it. `seed` tells its executions from those of a search.
  PairMaker(const Session& session, score::RegisteredProblem problem, std::string source_file,
            std::string origin, std::uint64_t seed = 0);

  // Executes both kernels, each once for all pairs, with inputs that no search has used. Errors are
  // the reason for which there is no pair, a few words that many pairs may have in common: refused,
  // or cancelled.
  [[nodiscard]] Result<PairRecord> make(const PairRequest& request,
                                        const Cancellation& cancellation);

 private:
  [[nodiscard]] const Evaluation& execute(const Candidate& candidate,
                                          const Cancellation& cancellation);

  const Session& session_;
  const score::RegisteredProblem problem_;
  const std::string source_file_;
  const std::string origin_;
  const std::uint64_t seed_;
  std::unordered_map<Hash128, Evaluation> executed_;
};

struct PairExecution {
  // Both kernels were timed as the pair was, predicted or measured; else it is only known that both
  // are still correct.
  bool timed_alike = false;
};

// Executes a pair again in a session of its problem. Errors are the reason why it does not hold:
// refused, cancelled.
[[nodiscard]] Result<PairExecution> execute_pair(const PairRecord& pair, const Session& session,
                                                 std::uint64_t seed,
                                                 const Cancellation& cancellation);

}  // namespace regraph::dataset
