#include "fleet/problem_desk.h"

#include "base/files.h"

#include <chrono>
#include <thread>
#include <utility>

namespace regraph::fleet {
namespace {

constexpr std::chrono::milliseconds kPause{200};
constexpr std::size_t kLargestFile = std::size_t{2} << 30;

}  // namespace

Evaluation cancelled_evaluation() {
  Evaluation evaluation;
  evaluation.verdict = Verdict::timeout;
  evaluation.message = "cancelled before it was evaluated";
  return evaluation;
}

Result<EvaluationAnswer> ProblemDesk::ask(const Job& job, const Cancellation& cancellation) {
  if (Status kept = keep_problem(cancellation); !kept) return std::move(kept).error();
  const Result<std::string> said = queue_.ask(job, cancellation);
  if (!said) return said.error();
  Result<EvaluationAnswer> answer = read_answer(*said);
  if (answer && answer->trouble.empty()) return answer;
  // The server may have lost the problem.
  forget_problem();
  if (answer)
    return fail(ErrorCode::unsupported,
                "worker " + answer->worker + " could not: " + answer->trouble);
  return fail(ErrorCode::parse, "a worker said something else: " + answer.error().message);
}

Status ProblemDesk::keep_problem(const Cancellation& cancellation) {
  const std::lock_guard lock(keeping_);
  while (!problem_kept_) {
    Status kept = hand_over(cancellation);
    if (kept) {
      problem_kept_ = true;
    } else if (cancellation.requested()) {
      return fail(ErrorCode::cancelled, "cancelled");
    } else if (kept.error().code != ErrorCode::io) {
      return fail(kept.error().code,
                  "the problem cannot be handed to the fleet: " + kept.error().message);
    } else {
      report_once("the problem cannot be handed to the fleet yet: " + kept.error().message);
      std::this_thread::sleep_for(kPause);
    }
  }
  return {};
}

// A server may have lost what it was given.
void ProblemDesk::forget_problem() {
  const std::lock_guard lock(keeping_);
  problem_kept_ = false;
}

// The files first: where the text is, they are.
Status ProblemDesk::hand_over(const Cancellation& cancellation) {
  for (const ProblemFile& file : problem_.files) {
    const auto bytes = read_file(file.path, kLargestFile);
    if (!bytes) return fail(ErrorCode::not_found, bytes.error().message);
    if (hash_text(*bytes) != file.id)
      return fail(ErrorCode::not_found, file.path.string() + " has changed");
    if (Status kept = queue_.keep(file.id, *bytes, cancellation); !kept) return kept;
  }
  return queue_.keep(problem_.id, problem_.text, cancellation);
}

void ProblemDesk::report_once(const std::string& text) {
  {
    const std::lock_guard lock(mutex_);
    if (!reported_.insert(text).second) return;
  }
  if (report_) report_(text);
}

}  // namespace regraph::fleet
