// The disposable process of one place of a worker.
#pragma once

#include "base/cancellation.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/service_process.h"
#include "base/spawn.h"
#include "fleet/evaluation_job.h"

#include <optional>
#include <string>

namespace regraph::fleet {

struct JudgeLimits {
  double margin_seconds = 30.0;    // beyond the evaluation's own limit before it counts as hung
  double opening_seconds = 300.0;  // and more where it may have a problem to open first
  int turns = 1;  // that may pass before it is its own, e.g. of those that share a GPU
};

// Not thread-safe, and the process dies with the thread that started it.
class JudgeProcess {
 public:
  explicit JudgeProcess(SpawnRequest program, JudgeLimits limits = {})
      : program_(std::move(program)), limits_(limits) {}

  // Has the evaluation judged, in a new process where there is none. After an error the process is
  // gone. Errors: cancelled; resource (hung); io (it ended, and how); parse (it says something
  // else); not_found (no such program).
  [[nodiscard]] Result<EvaluationAnswer> ask(const std::string& problem, const Hash128& problem_id,
                                             const std::string& evaluation, double wall_seconds,
                                             const Cancellation& cancellation);

 private:
  void forget();

  SpawnRequest program_;
  JudgeLimits limits_;
  std::optional<ServiceProcess> process_;
  std::optional<Hash128> last_;  // the problem that it was asked about last
};

}  // namespace regraph::fleet
