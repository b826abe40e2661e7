// Answers to registered states, read, compiled, verified and timed: what a reward is made of.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "score/score_item.h"
#include "score/state_registry.h"
#include "session/installation.h"
#include "session/session_error.h"
#include "session/session_options.h"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

namespace regraph::score {

// What a verdict of the evaluator means for an answer.
[[nodiscard]] learn::AnswerOutcome outcome_of(Verdict verdict);
// The same with what is known besides: branches of its own that no run took make it suspicious.
[[nodiscard]] learn::AnswerOutcome outcome_of(const Evaluation& evaluation);

struct ScorerOptions {
  std::filesystem::path states;  // a StateRegistry's folder
  std::string device;            // as of SessionOptions
  std::string evaluator = "model";
  double candidate_seconds = 10.0;  // an answer may take, compiling included
  std::size_t open_problems = 32;   // kept ready; the one that was used longest ago goes first
  FleetAccess fleet = {};           // who evaluates, where it is not this process
};

// Not thread-safe: one for each worker process.
class Scorer {
 public:
  // Reads the registry; problems are opened when they are first asked about. Errors: usage,
  // no device, internal.
  [[nodiscard]] static Result<std::unique_ptr<Scorer>, SessionError> open(
      const ScorerOptions& options, const Installation& installation,
      const Cancellation& cancellation);
  ~Scorer();

  // Never fails for a bad answer: the outcome says what was wrong with it. Where nothing can be
  // said (an unknown state, a problem that does not open, a service that failed, cancelled) the
  // outcome is no_verdict and the message says why.
  [[nodiscard]] Score score(const ScoreItem& item, const Cancellation& cancellation);

 private:
  struct State;
  explicit Scorer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace regraph::score
