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

constexpr std::chrono::milliseconds kPause{500};
// Of an answer's trial: processes of its own, and several checking tools.
constexpr double kTrialSeconds = 300.0;
constexpr std::size_t kMostWorkers = 1000;  // notices read; a board is open to whoever may write
constexpr std::string_view kOwnLane = "gpu-";
// A search has about four candidates under way, and which places take them is chance.
constexpr int kMostReady = 8;

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
    : board_(board),
      here_(here),
      options_(std::move(options)),
      desk_(queue, options_.problem, options_.report),
      spot_check_(options_.checked_share) {}

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
      confirming ? ask_one_gpu(evaluation, cancellation) : desk_.ask(job, cancellation);
  if (!answer && (cancellation.requested() || answer.error().code == ErrorCode::cancelled)) {
    if (!confirming) desk_.give_up(job);
    return cancelled_evaluation();
  }
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

void FleetMeasurer::make_ready(const EvaluationJob& first) {
  const auto notices = board_.notices(Board::workers, kMostWorkers);
  if (!notices) return;
  int idle = -1;  // one takes the candidate itself
  for (const auto& [key, text] : *notices) {
    const auto worker = read_presence(text);
    if (!worker || std::ranges::find(worker->lanes, options_.lane) == worker->lanes.end()) continue;
    idle += std::clamp(worker->places - worker->busy, 0, kMostReady);
  }
  for (int place = 0; place < std::min(idle, kMostReady - 1); ++place) {
    EvaluationJob copy = first;
    copy.occasion += fmt::format(" ready {}", place);
    ready_.push_back(std::async(std::launch::async, [this, job = job_of(options_.lane, copy)] {
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
    const std::optional<Gpu> gpu = chosen(cancellation);
    if (!gpu) return fail(ErrorCode::cancelled, "cancelled");
    if (auto answer = ask_gpu(*gpu, evaluation, cancellation)) return std::move(*answer);
    desk_.report_once(gpu->worker + " is gone; another GPU confirms");
  }
}

std::optional<Result<EvaluationAnswer>> FleetMeasurer::ask_gpu(const Gpu& gpu,
                                                               const EvaluationJob& evaluation,
                                                               const Cancellation& cancellation) {
  const Job job = job_of(gpu.lane, evaluation);
  while (true) {
    const Deadline look(options_.look_seconds, cancellation);
    Result<EvaluationAnswer> answer = desk_.ask(job, look.cancellation());
    if (answer || answer.error().code != ErrorCode::cancelled) return answer;
    const std::vector<Gpu> there = gpus();
    const bool is_there = std::ranges::find(there, gpu.lane, &Gpu::lane) != there.end();
    if (is_there && !cancellation.requested()) continue;
    desk_.give_up(job);
    if (!is_there) return std::nullopt;
    return answer;
  }
}

std::vector<FleetMeasurer::Gpu> FleetMeasurer::gpus() const {
  std::vector<Gpu> there;
  const auto notices = board_.notices(Board::workers, kMostWorkers);
  if (!notices) return there;
  for (const auto& [key, text] : *notices) {
    const auto worker = read_presence(text);
    if (!worker || std::ranges::find(worker->lanes, options_.lane) == worker->lanes.end()) continue;
    const auto own = std::ranges::find_if(
        worker->lanes, [](const std::string& lane) { return lane.starts_with(kOwnLane); });
    if (own != worker->lanes.end()) there.push_back({*own, worker->name});
  }
  const std::lock_guard lock(mutex_);
  const auto first = std::ranges::find(there, chosen_lane_, &Gpu::lane);
  if (first != there.end()) std::rotate(there.begin(), first, first + 1);
  return there;
}

std::optional<FleetMeasurer::Gpu> FleetMeasurer::chosen(const Cancellation& cancellation) {
  while (!cancellation.requested()) {
    const std::vector<Gpu> there = gpus();
    if (!there.empty()) {
      const std::lock_guard lock(mutex_);
      chosen_lane_ = there.front().lane;
      return there.front();
    }
    desk_.report_once("no worker with such a GPU is there; what is to be confirmed waits for one");
    std::this_thread::sleep_for(kPause);
  }
  return std::nullopt;
}

std::optional<Result<AnswerTrial>> FleetMeasurer::try_on(const Gpu& gpu,
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
  const Measurement before = use();
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
  const std::vector<Gpu> there = gpus();
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

bool FleetMeasurer::add_trial(const Gpu& gpu, Result<AnswerTrial> said, AnswerTrial& trial,
                              std::vector<std::string>& asked) {
  if (!said) {
    trial.notes.push_back("the answer could not be measured once more by " + gpu.worker + ": " +
                          said.error().message);
    return false;
  }
  AnswerTrial& one = *said;
  trial.stands = trial.stands && one.stands;
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

Measurement FleetMeasurer::use() const {
  const std::lock_guard lock(mutex_);
  Measurement sum = sum_of_uses(uses_);
  sum.original_seconds = unit_seconds_;
  return sum;
}

}  // namespace regraph::fleet
