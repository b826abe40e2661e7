#include "eval/gpu/gpu_evaluator.h"

#include "base/deadline.h"
#include "eval/gpu/gpu_lane.h"
#include "eval/gpu/gpu_reservation.h"
#include "eval/gpu/prepared_store.h"
#include "eval/model/candidate_stages.h"
#include "eval/verify/loaded_plan.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

namespace regraph::gpu {

struct GpuEvaluator::State {
  State(Compiler& compiler, Verifier& verifier, const Problem& problem, CompiledPlan first,
        GpuEvaluatorConfig chosen)
      : config(std::move(chosen)), stages(problem, compiler, verifier, config.model) {
    auto kernel = std::make_shared<PreparedCandidate>();
    kernel->compiled = std::move(first);
    kernel->plan = problem.launch;
    auto loaded = verify::load_plan(kernel->compiled, kernel->plan);
    if (loaded.ok()) kernel->loaded = std::move(*loaded);  // the verifier says so when not
    original = std::move(kernel);
    for (const int device : config.devices) {
      GpuLaneConfig lane{config.worker, config.model, config.cupti, config.seed, {}};
      lane.worker.device = device;
      lane.make_double_shadow = [&compiler, &problem, architecture = config.model.architecture](
                                    const Cancellation& stop) {
        return verify::make_double_shadow(compiler, problem, problem.source, architecture, stop,
                                          verify::ShadowUse::gpu);
      };
      lanes.push_back(
          std::make_unique<GpuLane>(problem, verifier, original, best, log, std::move(lane)));
    }
    busy.resize(lanes.size(), false);
  }

  const GpuEvaluatorConfig config;
  CandidateStages stages;
  std::shared_ptr<const PreparedCandidate> original;
  PreparedStore prepared;
  MeasuredBest best;
  mutable GpuStatisticsLog log;

  std::vector<std::unique_ptr<GpuLane>> lanes;
  mutable std::mutex lanes_mutex;
  mutable std::condition_variable lane_free;
  mutable std::vector<bool> busy;

  // A lane of one's own for as long as this lives, and its GPU kept from other programs.
  class Turn {
   public:
    // Waits for any lane, or for the first one only.
    Turn(const State& state, bool first_only, const Cancellation& stop) : state_(state) {
      const Stopwatch watch(state.log, &GpuStatistics::waiting_seconds);
      std::unique_lock lock(state.lanes_mutex);
      const auto last = first_only ? state.busy.begin() + 1 : state.busy.end();
      auto found = last;
      state.lane_free.wait(lock, [&] {
        found = std::find(state.busy.begin(), last, false);
        return found != last;
      });
      *found = true;
      index_ = static_cast<std::size_t>(found - state.busy.begin());
      lock.unlock();
      if (index_ < state.config.bus_ids.size())
        reservation_.emplace(
            GpuReservation::wait(GpuReservation::file_of(state.config.bus_ids[index_]), stop));
    }
    ~Turn() {
      reservation_.reset();
      {
        const std::lock_guard lock(state_.lanes_mutex);
        state_.busy[index_] = false;
      }
      state_.lane_free.notify_all();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    [[nodiscard]] GpuLane& lane() const { return *state_.lanes[index_]; }

   private:
    const State& state_;
    std::size_t index_ = 0;
    std::optional<GpuReservation> reservation_;
  };

  Evaluation judge(const Candidate& candidate, const EvaluationBudget& budget,
                   const Cancellation& cancellation) {
    JudgedHere here;
    {
      const Deadline deadline(budget.wall_seconds, cancellation);
      if (auto known = prepared.take(PreparedStore::key_of(candidate, budget))) {
        here = std::move(*known);
      } else {
        here = judge_here(candidate, budget, deadline.cancellation());
      }
      if (here.goes_on) leave_if_behind(here, budget, deadline.cancellation());
      if (!here.goes_on) judge_by_time(here.staged.evaluation, deadline, budget.wall_seconds);
    }
    if (here.goes_on) judge_there(budget, here.staged, cancellation);
    return std::move(here.staged.evaluation);
  }

  // The stages that need no GPU.
  JudgedHere judge_here(const Candidate& candidate, const EvaluationBudget& budget,
                        const Cancellation& stop) {
    const ThreadBudget::Share calling = stages.threads().enter();
    JudgedHere here;
    const auto rejected = [&](StageResult result) {
      if (result) return false;
      reject(here.staged.evaluation, std::move(result).error());
      return true;
    };
    const Stopwatch watch(log, &GpuStatistics::compile_and_verify_seconds);
    if (rejected(stages.prepare(candidate, here.staged, stop))) return here;
    auto findings = stages.verify_and_predict(here.staged, budget, false, stop);
    log.add(&GpuStatistics::model_seconds, here.staged.predict_seconds);
    if (rejected(std::move(findings.verified)) || rejected(std::move(findings.same_work)))
      return here;
    // A kernel that the model has no time for can still be timed; one that does wrong cannot.
    here.goes_on = !rejected(std::move(findings.predicted)) ||
                   here.staged.evaluation.verdict == Verdict::unsupported;
    return here;
  }

  // A candidate that is predicted to be far behind goes no further. What is timed is compared at
  // the bench sizes on the GPU; what is not, here.
  void leave_if_behind(JudgedHere& here, const EvaluationBudget& budget, const Cancellation& stop) {
    const bool confirming = budget.effort == EvaluationBudget::Effort::confirmation;
    if (confirming || !here.staged.evaluation.correct() || !prune(budget, here.staged.evaluation))
      return;
    here.goes_on = false;
    const ThreadBudget::Share calling = stages.threads().enter();
    if (auto same = stages.verify_bench(here.staged, budget, stop); !same)
      return reject(here.staged.evaluation, std::move(same).error());
    say_limits(here.staged);
  }

  // The stages on a GPU.
  void judge_there(const EvaluationBudget& budget, StagedCandidate& staged,
                   const Cancellation& cancellation) {
    std::optional<Turn> turn(std::in_place, *this,
                             budget.effort == EvaluationBudget::Effort::confirmation, cancellation);
    // Others' turns on the GPU are not this candidate's time.
    const Deadline deadline(budget.wall_seconds, cancellation);
    const Cancellation& stop = deadline.cancellation();
    const bool compared = turn->lane().judge(staged.prepared, budget, staged.evaluation, stop);
    turn.reset();
    if (staged.evaluation.correct() && !compared) {
      // Too slow to be looked at there, and yet its verdict counts.
      if (auto done = stages.verify_bench(staged, budget, stop); !done)
        reject(staged.evaluation, std::move(done).error());
      say_limits(staged);
    }
    judge_by_time(staged.evaluation, deadline, budget.wall_seconds);
  }

  // Whether the prediction, as far as this run's measurements correct it, is far behind the best.
  // The time is then the corrected one, so that it stands beside measured ones.
  bool prune(const EvaluationBudget& budget, Evaluation& result) {
    if (!config.model_first) return false;
    const auto corrected = best.corrected_if_behind(
        result.time.median_seconds, budget.measured_over_predicted, config.pruned_beyond);
    if (!corrected) return false;
    const double scale = *corrected / result.time.median_seconds;
    result.time.median_seconds *= scale;
    result.time.low_seconds *= scale;
    result.time.high_seconds *= scale;
    log.count(&GpuStatistics::pruned);
    return true;
  }

  // For what is known to be right.
  Result<std::shared_ptr<const PreparedCandidate>, Rejection> prepare(const Candidate& candidate,
                                                                      const Cancellation& stop) {
    StagedCandidate staged;
    if (auto done = stages.prepare(candidate, staged, stop); !done) return std::move(done).error();
    return std::move(staged.prepared);
  }
};

GpuEvaluator::GpuEvaluator(Compiler& compiler, Verifier& verifier, const Problem& problem,
                           CompiledPlan original, GpuEvaluatorConfig config)
    : state_(std::make_unique<State>(compiler, verifier, problem, std::move(original),
                                     std::move(config))) {}
GpuEvaluator::~GpuEvaluator() = default;

Evaluation GpuEvaluator::evaluate(const Candidate& candidate, const EvaluationBudget& budget,
                                  const Cancellation& cancellation) {
  Evaluation result = state_->judge(candidate, budget, cancellation);
  state_->log.count(&GpuStatistics::evaluated);
  return result;
}

Evaluation GpuEvaluator::prepare(const Candidate& candidate, const EvaluationBudget& budget,
                                 const Cancellation& cancellation) {
  const Deadline deadline(budget.wall_seconds, cancellation);
  JudgedHere here = state_->judge_here(candidate, budget, deadline.cancellation());
  Evaluation expected = here.staged.evaluation;
  if (deadline.cancellation().requested()) {
    expected.verdict = Verdict::timeout;
  } else {
    state_->prepared.put(PreparedStore::key_of(candidate, budget), std::move(here));
  }
  return expected;
}

void GpuEvaluator::limit_threads(int threads) {
  state_->stages.threads().limit(threads);
}

double GpuEvaluator::longest_seconds(const EvaluationBudget& budget, int calls) const {
  return (1.0 + calls) * budget.wall_seconds;
}

Result<MeasuredSpeedup, Failure> GpuEvaluator::measure_answer(const Candidate& best,
                                                              const Cancellation& cancellation) {
  auto kernel = state_->prepare(best, cancellation);
  if (!kernel) return Failure{0, false, false, kernel.error().message};
  const State::Turn turn(*state_, true, cancellation);
  const Stopwatch watch(state_->log, &GpuStatistics::answer_seconds);
  return turn.lane().measure_answer(*kernel, cancellation);
}

SanitizerReport GpuEvaluator::sanitize_answer(const Candidate& best, const SanitizerConfig& config,
                                              const Cancellation& cancellation) {
  auto kernel = state_->prepare(best, cancellation);
  if (!kernel) return {{}, {}, {kernel.error().message}};
  const State::Turn turn(*state_, true, cancellation);
  const Stopwatch watch(state_->log, &GpuStatistics::answer_seconds);
  return turn.lane().sanitize(config, **kernel, cancellation);
}

GpuStatistics GpuEvaluator::statistics() const {
  GpuStatistics statistics = state_->log.read();
  statistics.devices = static_cast<int>(state_->lanes.size());
  for (std::size_t i = 0; i < state_->lanes.size(); ++i) {
    // The lanes stand still meanwhile: the search is over, or waits.
    const GpuLane& lane = *state_->lanes[i];
    statistics.workers += lane.processes();
    const SessionHealth health = lane.health();
    statistics.furnishing_seconds += health.furnishing_seconds;
    statistics.exact_looks += health.exact_looks;
    statistics.double_looks += health.double_looks;
    if (i == 0) statistics.clock_hertz = health.clock_hertz;
    if (i == 0) statistics.original_seconds = lane.original_seconds();
    for (const double noise : health.noise)
      statistics.noise = std::max(statistics.noise, noise);
  }
  return statistics;
}

}  // namespace regraph::gpu
