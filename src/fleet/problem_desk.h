// Where questions about one problem are handed to a fleet.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "fleet/evaluation_job.h"
#include "fleet/problem_text.h"
#include "fleet/queue/job_queue.h"

#include <functional>
#include <mutex>
#include <set>
#include <string>

namespace regraph::fleet {

// Told, in words, what a user should know of workers; from any thread. May be empty.
using FleetReport = std::function<void(const std::string&)>;

// That one evaluation may take: workers may be away for hours.
inline constexpr double kLongestFleetSeconds = 7.0 * 24 * 3600;
// What an evaluation is that was cancelled before there was an answer.
[[nodiscard]] Evaluation cancelled_evaluation();

// Thread-safe.
class ProblemDesk {
 public:
  // `queue` must outlive this.
  ProblemDesk(JobQueue& queue, ProblemText problem, FleetReport report)
      : queue_(queue), problem_(std::move(problem)), report_(std::move(report)) {}

  // What a worker says to a job about the problem, which is handed over before where it is not
  // there. Errors: cancelled; else why there is no answer, in words: no worker can, the job or the
  // problem cannot travel, the answer is none.
  [[nodiscard]] Result<EvaluationAnswer> ask(const Job& job, const Cancellation& cancellation);

  // The answer is not wanted any more.
  void give_up(const Job& job) { queue_.take_back(job); }

  // Says it unless it was said before.
  void report_once(const std::string& text);

  [[nodiscard]] const Hash128& problem() const { return problem_.id; }

 private:
  [[nodiscard]] Status keep_problem(const Cancellation& cancellation);
  [[nodiscard]] Status hand_over(const Cancellation& cancellation);
  void forget_problem();

  JobQueue& queue_;
  const ProblemText problem_;
  const FleetReport report_;
  std::mutex keeping_;
  bool problem_kept_ = false;
  std::mutex mutex_;
  std::set<std::string> reported_;
};

}  // namespace regraph::fleet
