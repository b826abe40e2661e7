// One worker process and what it has open.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "base/service_process.h"
#include "base/spawn.h"
#include "score/score_item.h"

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace regraph::score {

struct ScoreWorkerOptions {
  SpawnRequest program;             // says score_text to every item_text
  double candidate_seconds = 10.0;  // that the program gives an answer itself
  double margin_seconds = 5.0;      // more before it counts as hung
  double opening_seconds = 120.0;   // and yet more where it has a problem to open first
};

// What is said of an item where nothing can be said: no_verdict, and why.
[[nodiscard]] Score no_verdict(const ScoreItem& item, std::string message);

// Not thread-safe, and the process dies with the thread that started it.
class ScoreWorker {
 public:
  // As many as a worker keeps open (ScorerOptions::open_problems).
  static constexpr std::size_t kOpenProblems = 32;

  explicit ScoreWorker(const ScoreWorkerOptions& options) : options_(options) {}

  // Starts the process where there is none. Errors as ServiceProcess::start.
  [[nodiscard]] Status start();
  [[nodiscard]] bool alive() const { return process_ && process_->alive(); }

  // Whether `problem` was asked about lately, so that the process has it open.
  [[nodiscard]] bool has_open(std::string_view problem) const;

  // Starts the process if need be. After an error it is gone, and what it had open with it. Errors
  // as start() and ServiceProcess::ask; parse also where the answer is none to the item.
  [[nodiscard]] Result<Score> ask(const ScoreItem& item, const std::string& problem,
                                  const Cancellation& cancellation);

 private:
  void remember(const std::string& problem);
  void forget();

  const ScoreWorkerOptions& options_;
  std::optional<ServiceProcess> process_;
  std::deque<std::string> open_;  // problems, the last used first
};

}  // namespace regraph::score
