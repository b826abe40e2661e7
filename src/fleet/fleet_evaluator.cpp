#include "fleet/fleet_evaluator.h"

#include "base/files.h"
#include "base/random.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>
#include <thread>
#include <utility>

namespace regraph::fleet {
namespace {

constexpr double kLongestSeconds = 7.0 * 24 * 3600;
constexpr std::chrono::milliseconds kPause{200};
constexpr double kOtherInputs = 1.5;  // times of one candidate are mostly apart by less
constexpr std::size_t kLargestFile = std::size_t{2} << 30;

Evaluation cancelled() {
  Evaluation evaluation;
  evaluation.verdict = Verdict::timeout;
  evaluation.message = "cancelled before it was evaluated";
  return evaluation;
}

Hash128 key_of(const Candidate& candidate) {
  return Hasher().add(candidate.source).add(candidate.plan.text()).finish();
}

// What a search goes by; the words of a message may name files of the machine that said it.
bool same(const Evaluation& one, const Evaluation& other) {
  return one.verdict == other.verdict &&
         (!one.correct() || (one.time.median_seconds == other.time.median_seconds &&
                             one.machine_code == other.machine_code));
}

}  // namespace

FleetEvaluator::FleetEvaluator(JobQueue& queue, Evaluator& here, FleetEvaluatorOptions options)
    : queue_(queue), here_(here), options_(std::move(options)), secret_(std::random_device{}()) {}

double FleetEvaluator::longest_seconds(const EvaluationBudget& budget, int calls) const {
  (void)budget, (void)calls;
  return kLongestSeconds;
}

void FleetEvaluator::limit_threads(int threads) {
  const int processors = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  here_.limit_threads(std::min(threads, processors));
}

Evaluation FleetEvaluator::evaluate(const Candidate& candidate, const EvaluationBudget& budget,
                                    const Cancellation& cancellation) {
  if (is_original(candidate)) return evaluate_here(candidate, budget, cancellation);
  if (budget.effort == EvaluationBudget::Effort::confirmation)
    return confirm(candidate, budget, cancellation);
  EvaluationJob evaluation;
  evaluation.problem = options_.problem.id;
  evaluation.candidate.source = candidate.source;
  evaluation.candidate.plan = candidate.plan;
  evaluation.candidate.assumptions = candidate.assumptions;
  evaluation.budget = budget;
  const Job job = job_of(options_.lane, evaluation);
  if (const Status kept = keep_problem(cancellation); !kept) {
    return kept.error().code == ErrorCode::cancelled
               ? cancelled()
               : evaluate_here(candidate, budget, cancellation);
  }
  const Result<std::string> said = queue_.ask(job, cancellation);
  if (!said && said.error().code == ErrorCode::cancelled) return cancelled();
  if (!said) {
    report_once("evaluated here: " + said.error().message);
    return evaluate_here(candidate, budget, cancellation);
  }
  Result<EvaluationAnswer> answer = read_answer(*said);
  if (!answer || !answer->evaluation) {
    forget_problem();
    report_once(answer ? fmt::format("evaluated here, because worker {} could not: {}",
                                     answer->worker, answer->trouble)
                       : "evaluated here, because a worker said something else: " +
                             answer.error().message);
    return evaluate_here(candidate, budget, cancellation);
  }
  remote_.fetch_add(1);
  if (answer->evaluation->correct()) {
    const std::lock_guard lock(mutex_);
    said_[key_of(candidate)] = {answer->worker, *answer->evaluation, budget};
  }
  if (!is_checked(job)) return std::move(*answer->evaluation);
  return checked(std::move(*answer->evaluation), answer->worker, candidate, budget, cancellation);
}

bool FleetEvaluator::is_original(const Candidate& candidate) const {
  return candidate.source == options_.original.source && candidate.plan == options_.original.plan;
}

bool FleetEvaluator::is_checked(const Job& job) const {
  const int share = options_.checked_share;
  if (share > 0 && distrusts_.load()) return true;
  return share > 0 &&
         random_bits(job.id.low, job.id.high, secret_) % static_cast<std::uint64_t>(share) == 0;
}

Evaluation FleetEvaluator::checked(Evaluation remote, const std::string& worker,
                                   const Candidate& candidate, const EvaluationBudget& budget,
                                   const Cancellation& cancellation) {
  // What killed three judges might kill this process; and load decides over what timed out.
  const auto untold = [](const Evaluation& one) {
    return one.verdict == Verdict::crash || one.verdict == Verdict::timeout;
  };
  if (untold(remote)) return remote;
  checked_.fetch_add(1);
  Evaluation here = here_.evaluate(candidate, budget, cancellation);
  if (cancellation.requested() || untold(here) || same(here, remote)) return remote;
  distrust(worker, remote, here);
  return here;
}

Evaluation FleetEvaluator::confirm(const Candidate& candidate, const EvaluationBudget& budget,
                                   const Cancellation& cancellation) {
  Evaluation here = evaluate_here(candidate, budget, cancellation);
  std::optional<Said> said;
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = said_.find(key_of(candidate)); known != said_.end())
      said = known->second;
  }
  // Other inputs may find what the first did not, and move a time that depends on them: so where it
  // is far from what was said, what was said is tried as it was asked.
  if (!said || !here.correct() || cancellation.requested()) return here;
  const double ratio = here.time.median_seconds / said->evaluation.time.median_seconds;
  if (ratio > kOtherInputs || ratio < 1.0 / kOtherInputs) {
    const Evaluation again = here_.evaluate(candidate, said->budget, cancellation);
    const bool telling = !cancellation.requested() && again.verdict != Verdict::timeout;
    if (telling && !same(again, said->evaluation)) distrust(said->worker, said->evaluation, again);
  }
  return here;
}

void FleetEvaluator::distrust(const std::string& worker, const Evaluation& remote,
                              const Evaluation& here) {
  differing_.fetch_add(1);
  distrusts_.store(true);
  report_once(
      fmt::format("worker {} says something else of a candidate than is found here ({}, "
                  "{:.4g} us; here {}, {:.4g} us): it is broken or lies; from now on all "
                  "is evaluated here, too, but do not trust what it said before",
                  worker, name(remote.verdict), remote.time.median_seconds * 1e6,
                  name(here.verdict), here.time.median_seconds * 1e6));
}

Evaluation FleetEvaluator::evaluate_here(const Candidate& candidate, const EvaluationBudget& budget,
                                         const Cancellation& cancellation) {
  local_.fetch_add(1);
  return here_.evaluate(candidate, budget, cancellation);
}

Status FleetEvaluator::keep_problem(const Cancellation& cancellation) {
  const std::lock_guard lock(keeping_);
  while (!problem_kept_) {
    Status kept = hand_over(cancellation);
    if (kept) {
      problem_kept_ = true;
    } else if (cancellation.requested()) {
      return fail(ErrorCode::cancelled, "cancelled");
    } else if (kept.error().code != ErrorCode::io) {
      report_once("all is evaluated here, because the problem cannot be handed to the fleet: " +
                  kept.error().message);
      return kept;
    } else {
      report_once("the problem cannot be handed to the fleet yet: " + kept.error().message);
      std::this_thread::sleep_for(kPause);
    }
  }
  return {};
}

// A server may have lost what it was given.
void FleetEvaluator::forget_problem() {
  const std::lock_guard lock(keeping_);
  problem_kept_ = false;
}

// The files first: where the text is, they are.
Status FleetEvaluator::hand_over(const Cancellation& cancellation) {
  for (const ProblemFile& file : options_.problem.files) {
    const auto bytes = read_file(file.path, kLargestFile);
    if (!bytes) return fail(ErrorCode::not_found, bytes.error().message);
    if (hash_text(*bytes) != file.id)
      return fail(ErrorCode::not_found, file.path.string() + " has changed");
    if (Status kept = queue_.keep(file.id, *bytes, cancellation); !kept) return kept;
  }
  return queue_.keep(options_.problem.id, options_.problem.text, cancellation);
}

void FleetEvaluator::report_once(const std::string& text) {
  {
    const std::lock_guard lock(mutex_);
    if (!reported_.insert(text).second) return;
  }
  if (options_.report) options_.report(text);
}

FleetEvaluator::Statistics FleetEvaluator::statistics() const {
  return {remote_.load(), local_.load(), checked_.load(), differing_.load()};
}

}  // namespace regraph::fleet
