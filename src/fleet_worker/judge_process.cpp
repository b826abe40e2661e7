#include "fleet_worker/judge_process.h"

#include "fleet_worker/judge_request.h"

#include <utility>

namespace regraph::fleet {

Result<EvaluationAnswer> JudgeProcess::ask(const std::string& problem, const Hash128& problem_id,
                                           const std::string& evaluation, double wall_seconds,
                                           const Cancellation& cancellation) {
  if (!process_ || !process_->alive()) {
    forget();
    auto started = ServiceProcess::start(program_);
    if (!started) return std::move(started).error();
    process_.emplace(*std::move(started));
  }
  // Others may be open still, or closed because a larger one needed room.
  const bool is_open = last_ == problem_id;
  last_ = problem_id;
  const double seconds = wall_seconds * limits_.turns + limits_.margin_seconds +
                         (is_open ? 0.0 : limits_.opening_seconds);
  const auto said = process_->ask(judge_request({problem, evaluation}), seconds, cancellation);
  if (!said) {
    forget();
    return said.error();
  }
  auto answer = read_answer(*said);
  if (!answer) forget();
  return answer;
}

void JudgeProcess::forget() {
  process_.reset();
  last_.reset();
}

}  // namespace regraph::fleet
