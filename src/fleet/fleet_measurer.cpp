#include "fleet/fleet_measurer.h"

#include "base/deadline.h"
#include "fleet/gpu_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <thread>
#include <utility>

namespace regraph::fleet {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPause{500};
// Of an answer's trial: processes of its own, and several checking tools.
constexpr double kTrialSeconds = 300.0;
// Which places take what a search has under way is chance.
constexpr int kMostReady = 2 * kUnderWay;

Evaluation unsupported(const std::string& why) {
  Evaluation evaluation;
  evaluation.verdict = Verdict::unsupported;
  evaluation.message = "no worker of the fleet measured it: " + why;
  return evaluation;
}

// Load and machines decide over these, not the candidate alone.
bool is_untold(const Evaluation& one) {
  return one.verdict == Verdict::crash || one.verdict == Verdict::timeout ||
         one.verdict == Verdict::unsupported;
}

std::string in_words(const SpeedupEstimate& speedup) {
  return fmt::format("{:.3g}x [{:.3g}, {:.3g}]", speedup.ratio, speedup.low, speedup.high);
}

}  // namespace

FleetMeasurer::FleetMeasurer(JobQueue& queue, NoticeBoard& board, Evaluator& here,
                             FleetMeasurerOptions options)
    : here_(here),
      options_(std::move(options)),
      desk_(queue, options_.problem, options_.report),
      spot_check_(options_.checked_share),
      gpus_(board, options_.lane, options_.occasion) {}

FleetMeasurer::~FleetMeasurer() {
  nobody_waits_.request();
}

double FleetMeasurer::longest_seconds(const EvaluationBudget& budget, int calls) const {
  (void)budget, (void)calls;
  return kLongestFleetSeconds;
}

void FleetMeasurer::limit_threads(int threads) {
  const int processors = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  here_.limit_threads(std::min(threads, processors));
}

Evaluation FleetMeasurer::evaluate(const Candidate& candidate, const EvaluationBudget& budget,
                                   const Cancellation& cancellation) {
  const EvaluationJob evaluation = job_for(candidate, budget);
  const Job job = job_of(options_.lane, evaluation);
  const bool confirming = budget.effort == EvaluationBudget::Effort::confirmation;
  if (!confirming) std::call_once(ready_once_, [&] { make_ready(evaluation); });
  // Meanwhile. Without it the future is not valid.
  std::future<Evaluation> here;
  if (confirming ? is_first_confirmation(candidate) : spot_check_.chooses(job.id)) {
    here = std::async(std::launch::async,
                      [&] { return here_.evaluate(candidate, budget, cancellation); });
  }
  Result<EvaluationAnswer> answer =
      confirming ? ask_one_gpu(evaluation, cancellation) : ask_for_look(evaluation, cancellation);
  if (!answer && (cancellation.requested() || answer.error().code == ErrorCode::cancelled))
    return cancelled_evaluation();
  if (answer && !answer->evaluation)
    answer = fail(ErrorCode::parse, "worker " + answer->worker + " did not evaluate it");
  if (!answer) {
    desk_.report_once(answer.error().message);
    return unsupported(answer.error().message);
  }
  spot_check_.count_remote();
  take_up(*answer);
  Evaluation& remote = *answer->evaluation;
  if (!here.valid() || !remote.correct()) return std::move(remote);
  return verified(std::move(remote), here.get(), answer->worker, cancellation);
}

Result<EvaluationAnswer> FleetMeasurer::ask_for_look(const EvaluationJob& evaluation,
                                                     const Cancellation& cancellation) {
  while (const std::optional<FleetGpu> gpu = gpus_.begin_look()) {
    auto answer = ask_gpu(*gpu, evaluation, cancellation,
                          options_.patience_seconds + evaluation.budget.wall_seconds);
    gpus_.end_look(*gpu);
    if (answer) return std::move(*answer);
    gpus_.drop(*gpu);
    desk_.report_once(gpu->worker + " is gone or silent; other GPUs measure");
  }
  const Job job = job_of(options_.lane, evaluation);
  Result<EvaluationAnswer> answer = desk_.ask(job, cancellation);
  if (!answer && (cancellation.requested() || answer.error().code == ErrorCode::cancelled))
    desk_.give_up(job);
  return answer;
}

void FleetMeasurer::make_ready(const EvaluationJob& first) {
  // Of the search's own GPUs, each with its own lane; else of all, whichever take it.
  std::vector<FleetGpu> gpus = gpus_.mine();
  const bool have_own = !gpus.empty();
  if (!have_own) gpus = gpus_.there();
  std::vector<std::string> lanes;
  for (const FleetGpu& gpu : gpus) {
    for (int place = gpu.busy; place < gpu.places; ++place)
      lanes.push_back(have_own ? gpu.lane : options_.lane);
  }
  // The first GPU takes the candidate itself.
  if (!lanes.empty()) lanes.erase(lanes.begin());
  if (lanes.size() >= kMostReady) lanes.resize(kMostReady - 1);
  for (std::size_t place = 0; place < lanes.size(); ++place) {
    EvaluationJob copy = first;
    copy.occasion += fmt::format(" ready {}", place);
    ready_.push_back(std::async(std::launch::async, [this, job = job_of(lanes[place], copy)] {
      const auto answer = desk_.ask(job, nobody_waits_);
      if (!answer && nobody_waits_.requested()) desk_.give_up(job);
    }));
  }
}

// Each finalist is verified here once: the seed of later rounds is the same.
bool FleetMeasurer::is_first_confirmation(const Candidate& candidate) {
  const std::lock_guard lock(mutex_);
  return verified_.insert(Hasher().add(candidate.source).add(candidate.plan.text()).finish())
      .second;
}

EvaluationJob FleetMeasurer::job_for(const Candidate& candidate,
                                     const EvaluationBudget& budget) const {
  EvaluationJob evaluation;
  evaluation.problem = desk_.problem();
  evaluation.occasion = options_.occasion;
  evaluation.candidate.source = candidate.source;
  evaluation.candidate.plan = candidate.plan;
  evaluation.candidate.assumptions = candidate.assumptions;
  evaluation.budget = budget;
  return evaluation;
}

// What is wrong here is wrong; what a GPU alone shows cannot be seen here.
Evaluation FleetMeasurer::verified(Evaluation remote, Evaluation here, const std::string& worker,
                                   const Cancellation& cancellation) {
  spot_check_.count_checked();
  if (cancellation.requested() || here.correct() || is_untold(here)) return remote;
  spot_check_.distrust();
  desk_.report_once(
      fmt::format("worker {} calls a candidate correct that is {} here ({}): it is broken or lies; "
                  "from now on all is verified here, too, but do not trust what it said before",
                  worker, name(here.verdict), here.message));
  return here;
}

void FleetMeasurer::take_up(EvaluationAnswer& answer) {
  const std::lock_guard lock(mutex_);
  if (answer.use) uses_[{answer.worker, answer.process}] = *answer.use;
  const double original = answer.use ? answer.use->original_seconds : 0.0;
  if (original <= 0.0 || !answer.evaluation->correct()) return;
  if (unit_seconds_ == 0.0) unit_seconds_ = original;
  TimeEstimate& time = answer.evaluation->time;
  const double scale = unit_seconds_ / original;
  time.median_seconds *= scale;
  time.low_seconds *= scale;
  time.high_seconds *= scale;
}

Result<EvaluationAnswer> FleetMeasurer::ask_one_gpu(const EvaluationJob& evaluation,
                                                    const Cancellation& cancellation) {
  while (true) {
    const std::optional<FleetGpu> gpu = confirming(cancellation);
    if (!gpu) return fail(ErrorCode::cancelled, "cancelled");
    if (auto answer = ask_gpu(*gpu, evaluation, cancellation)) return std::move(*answer);
    desk_.report_once(gpu->worker + " is gone; another GPU confirms");
  }
}

std::optional<Result<EvaluationAnswer>> FleetMeasurer::ask_gpu(const FleetGpu& gpu,
                                                               const EvaluationJob& evaluation,
                                                               const Cancellation& cancellation,
                                                               double patience_seconds) {
  const Job job = job_of(gpu.lane, evaluation);
  const auto start = Clock::now();
  while (true) {
    const Deadline look(options_.look_seconds, cancellation);
    Result<EvaluationAnswer> answer = desk_.ask(job, look.cancellation());
    if (answer || answer.error().code != ErrorCode::cancelled) return answer;
    const std::vector<FleetGpu> there = gpus_.there();
    const bool is_there = std::ranges::find(there, gpu.lane, &FleetGpu::lane) != there.end();
    const std::chrono::duration<double> waited = Clock::now() - start;
    const bool is_asked = is_there && waited.count() < patience_seconds;
    if (is_asked && !cancellation.requested()) continue;
    desk_.give_up(job);
    if (!is_asked && !cancellation.requested()) return std::nullopt;
    return answer;
  }
}

std::optional<FleetGpu> FleetMeasurer::confirming(const Cancellation& cancellation) {
  while (!cancellation.requested()) {
    if (auto gpu = gpus_.confirming()) return gpu;
    desk_.report_once("no worker with such a GPU is there; what is to be confirmed waits for one");
    std::this_thread::sleep_for(kPause);
  }
  return std::nullopt;
}

std::optional<Result<AnswerTrial>> FleetMeasurer::try_on(const FleetGpu& gpu,
                                                         const EvaluationJob& evaluation,
                                                         const Cancellation& cancellation) {
  auto answer = ask_gpu(gpu, evaluation, cancellation);
  if (!answer) return std::nullopt;
  if (!*answer) return Result<AnswerTrial>((*answer).error());
  if (!(*answer)->trial)
    return Result<AnswerTrial>(
        fail(ErrorCode::parse, "worker " + (*answer)->worker + " did not try it"));
  return Result<AnswerTrial>(std::move(*(*answer)->trial));
}

AnswerTrial FleetMeasurer::try_answer(const Candidate* answer, bool sanitize,
                                      const Cancellation& cancellation) {
  AnswerTrial trial;
  const Measurement before = measurement();
  trial.measurement = before;
  if (answer == nullptr || cancellation.requested()) return trial;
  EvaluationBudget budget;
  budget.wall_seconds = kTrialSeconds;
  EvaluationJob evaluation = job_for(*answer, budget);
  evaluation.task = EvaluationJob::Task::try_answer;
  evaluation.sanitize = sanitize;
  std::vector<std::string> asked;
  int measured = 0;
  // Two at a time: each times on a GPU of its own.
  const std::vector<FleetGpu> there = gpus_.there();
  for (std::size_t next = 0; next < there.size() && measured < 2 && !cancellation.requested();) {
    std::vector<std::future<std::optional<Result<AnswerTrial>>>> trials;
    evaluation.sanitize = sanitize && !trial.measurement.sanitizer;
    const std::size_t first = next;
    for (; next < there.size() && trials.size() + static_cast<std::size_t>(measured) < 2; ++next) {
      trials.push_back(std::async(std::launch::async, [&, evaluation, at = next] {
        return try_on(there[at], evaluation, cancellation);
      }));
      evaluation.sanitize = false;
    }
    for (std::size_t i = 0; i < trials.size(); ++i) {
      auto said = trials[i].get();
      if (said && add_trial(there[first + i], std::move(*said), trial, asked)) ++measured;
    }
  }
  if (measured == 2) trial.notes.push_back("measured on two GPUs: " + asked[0] + ", " + asked[1]);
  if (measured == 1) trial.notes.emplace_back("measured on one GPU alone, as no other was there");
  if (measured == 0 && trial.notes.empty())
    trial.notes.emplace_back("the answer was not measured once more: no GPU of the fleet is there");
  return trial;
}

bool FleetMeasurer::add_trial(const FleetGpu& gpu, Result<AnswerTrial> said, AnswerTrial& trial,
                              std::vector<std::string>& asked) {
  if (!said) {
    trial.notes.push_back("the answer could not be measured once more by " + gpu.worker + ": " +
                          said.error().message);
    return false;
  }
  AnswerTrial& one = *said;
  for (const std::string& objection : one.objections)
    trial.objections.push_back(gpu.worker + ": " + objection);
  for (std::string& note : one.notes)
    trial.notes.push_back(gpu.worker + ": " + note);
  Measurement& sum = trial.measurement;
  sum.answer_seconds = std::max(sum.answer_seconds, one.measurement.answer_seconds);
  if (one.measurement.sanitizer) sum.sanitizer = std::move(one.measurement.sanitizer);
  for (std::string& seen : one.measurement.disturbances)
    add_once(sum.disturbances, gpu.worker + ": " + seen);
  if (!one.measurement.speedup) return false;
  asked.push_back(gpu.worker + " measures " + in_words(one.measurement.speedup->cold));
  // Who claims more than another shows is not believed.
  if (!sum.speedup || one.measurement.speedup->cold.ratio < sum.speedup->cold.ratio)
    sum.speedup = std::move(one.measurement.speedup);
  return true;
}

Measurement FleetMeasurer::measurement() const {
  const std::lock_guard lock(mutex_);
  Measurement sum = sum_of_uses(uses_);
  sum.original_seconds = unit_seconds_;
  return sum;
}

}  // namespace regraph::fleet
