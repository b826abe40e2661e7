#include "fleet/fleet_evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

namespace regraph::fleet {
namespace {

constexpr double kOtherInputs = 1.5;  // times of one candidate are mostly apart by less

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
    : here_(here),
      options_(std::move(options)),
      desk_(queue, options_.problem, options_.report),
      spot_check_(options_.checked_share) {}

double FleetEvaluator::longest_seconds(const EvaluationBudget& budget, int calls) const {
  (void)budget, (void)calls;
  return kLongestFleetSeconds;
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
  evaluation.problem = desk_.problem();
  evaluation.candidate.source = candidate.source;
  evaluation.candidate.plan = candidate.plan;
  evaluation.candidate.assumptions = candidate.assumptions;
  evaluation.budget = budget;
  const Job job = job_of(options_.lane, evaluation);
  Result<EvaluationAnswer> answer = desk_.ask(job, cancellation);
  if (!answer && answer.error().code == ErrorCode::cancelled) {
    desk_.give_up(job);
    return cancelled_evaluation();
  }
  if (answer && !answer->evaluation)
    answer = fail(ErrorCode::parse, "worker " + answer->worker + " did not evaluate it");
  if (!answer) {
    desk_.report_once("evaluated here: " + answer.error().message);
    return evaluate_here(candidate, budget, cancellation);
  }
  spot_check_.count_remote();
  if (answer->evaluation->correct()) {
    const std::lock_guard lock(mutex_);
    said_[key_of(candidate)] = {answer->worker, *answer->evaluation, budget};
  }
  if (!spot_check_.chooses(job.id)) return std::move(*answer->evaluation);
  return checked(std::move(*answer->evaluation), answer->worker, candidate, budget, cancellation);
}

bool FleetEvaluator::is_original(const Candidate& candidate) const {
  return candidate.source == options_.original.source && candidate.plan == options_.original.plan;
}

Evaluation FleetEvaluator::checked(Evaluation remote, const std::string& worker,
                                   const Candidate& candidate, const EvaluationBudget& budget,
                                   const Cancellation& cancellation) {
  // What killed three judges might kill this process; and load decides over what timed out.
  const auto untold = [](const Evaluation& one) {
    return one.verdict == Verdict::crash || one.verdict == Verdict::timeout;
  };
  if (untold(remote)) return remote;
  spot_check_.count_checked();
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
  spot_check_.distrust();
  desk_.report_once(
      fmt::format("worker {} says something else of a candidate than is found here ({}, "
                  "{:.4g} us; here {}, {:.4g} us): it is broken or lies; from now on all "
                  "is evaluated here, too, but do not trust what it said before",
                  worker, name(remote.verdict), remote.time.median_seconds * 1e6,
                  name(here.verdict), here.time.median_seconds * 1e6));
}

Evaluation FleetEvaluator::evaluate_here(const Candidate& candidate, const EvaluationBudget& budget,
                                         const Cancellation& cancellation) {
  spot_check_.count_local();
  return here_.evaluate(candidate, budget, cancellation);
}

}  // namespace regraph::fleet
