// A problem that answers are judged against, open, and what is known of its candidates so far.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "score/state_registry.h"
#include "session/expanders.h"
#include "session/installation.h"
#include "session/session.h"

#include <map>
#include <memory>
#include <string>
#include <unordered_map>

namespace regraph::score {

// Where problems are opened.
struct OpeningPlace {
  std::string device;
  std::string evaluator;
  double candidate_seconds = 10.0;
  FleetAccess fleet = {};  // who evaluates, where it is not this process
};

// Not thread-safe.
class ScoreProblem {
 public:
  // Errors: as Session::open; the messages name the kernel.
  [[nodiscard]] static Result<std::unique_ptr<ScoreProblem>, SessionError> open(
      const RegisteredProblem& problem, const OpeningPlace& place, const Installation& installation,
      const Cancellation& cancellation);

  [[nodiscard]] const Session& session() const { return *session_; }
  [[nodiscard]] const Expander& rewriter() const { return rewriter_->expander(); }

  // Judges, and remembers what came of it; a crash or a lack of time only after it came twice,
  // because the checker may have been at fault.
  [[nodiscard]] Evaluation judge(const Candidate& candidate, const Cancellation& cancellation);
  // The state's parent. Errors: parse (its plan), refused.
  [[nodiscard]] Result<Candidate> parent(const RegisteredState& state,
                                         const Cancellation& cancellation);

 private:
  ScoreProblem() = default;

  std::unique_ptr<Session> session_;
  std::shared_ptr<const SessionExpander> rewriter_;
  double candidate_seconds_ = 10.0;
  std::unordered_map<Hash128, Evaluation> judged_;
  std::map<std::string, Candidate> parents_;  // by id of their state
};

}  // namespace regraph::score
