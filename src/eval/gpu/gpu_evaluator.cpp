#include "eval/gpu/gpu_evaluator.h"

#include "base/deadline.h"
#include "eval/gpu/gpu_lane.h"
#include "eval/model/model_evaluator.h"
#include "eval/verify/fault_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>

namespace regraph::gpu {
namespace {

Evaluation failed(Verdict verdict, std::string message) {
  Evaluation result;
  result.verdict = verdict;
  result.message = std::move(message);
  return result;
}

// What was not finished in time has no other verdict than that.
Evaluation within_time(Evaluation result, const Deadline& deadline, double seconds) {
  if (!deadline.expired() || result.correct()) return result;
  return failed(Verdict::timeout, fmt::format("not judged within {:g} seconds", seconds));
}

}  // namespace

struct GpuEvaluator::State {
  State(Compiler& with, Verifier& by, const Problem& of, CompiledPlan first,
        GpuEvaluatorConfig chosen)
      : compiler(with), verifier(by), problem(of), config(std::move(chosen)) {
    auto kernel = std::make_shared<TimedKernel>();
    kernel->compiled = std::move(first);
    kernel->plan = problem.launch;
    auto loaded = verify::load_plan(kernel->compiled, kernel->plan);
    if (loaded.ok()) kernel->loaded = std::move(*loaded);  // the verifier says so when not
    original = std::move(kernel);
    for (const int device : config.devices) {
      GpuLaneConfig lane{config.worker, config.model, config.cupti, config.seed};
      lane.worker.device = device;
      lanes.push_back(
          std::make_unique<GpuLane>(problem, verifier, original, best, log, std::move(lane)));
    }
    busy.resize(lanes.size(), false);
  }

  Compiler& compiler;
  Verifier& verifier;
  const Problem& problem;
  const GpuEvaluatorConfig config;
  std::shared_ptr<const TimedKernel> original;
  MeasuredBest best;
  std::once_flag counting_chosen;
  WorkCounting counting = WorkCounting::ptx;  // set once
  mutable GpuStatisticsLog log;

  std::vector<std::unique_ptr<GpuLane>> lanes;
  mutable std::mutex lanes_mutex;
  mutable std::condition_variable lane_free;
  mutable std::vector<bool> busy;

  // A lane of one's own for as long as this lives.
  class Turn {
   public:
    // Waits for any lane, or for the first one only.
    Turn(const State& state, bool first_only) : state_(state) {
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
    }
    ~Turn() {
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
  };

  Result<std::shared_ptr<TimedKernel>> compile(const Candidate& candidate,
                                               const Cancellation& stop) {
    auto kernel = std::make_shared<TimedKernel>();
    kernel->plan = candidate.plan;
    auto compiled = compile_plan(compiler, candidate.source, candidate.plan,
                                 std::string(config.model.architecture), stop);
    if (!compiled.ok()) return compiled.error();
    kernel->compiled = std::move(*compiled);
    return kernel;
  }
  static Status load(TimedKernel& kernel) {
    auto loaded = verify::load_plan(kernel.compiled, kernel.plan);
    if (!loaded.ok()) return loaded.error();
    kernel.loaded = std::move(*loaded);
    return {};
  }

  Evaluation judge(const Candidate& candidate, const EvaluationBudget& budget,
                   const Cancellation& cancellation) {
    std::shared_ptr<const TimedKernel> kernel;
    Evaluation result;
    {
      const Deadline deadline(budget.wall_seconds, cancellation);
      kernel = judge_here(candidate, budget, result, deadline.cancellation());
      if (!kernel) return within_time(std::move(result), deadline, budget.wall_seconds);
    }
    const Turn turn(*this, budget.effort == EvaluationBudget::Effort::confirmation);
    // Others' turns on the GPU are not this candidate's time.
    const Deadline deadline(budget.wall_seconds, cancellation);
    turn.lane().judge(kernel, budget, result, deadline.cancellation());
    return within_time(std::move(result), deadline, budget.wall_seconds);
  }

  // What needs no GPU: compiles, verifies, predicts. The kernel, when the GPU is to go on.
  std::shared_ptr<const TimedKernel> judge_here(const Candidate& candidate,
                                                const EvaluationBudget& budget, Evaluation& result,
                                                const Cancellation& stop) {
    std::shared_ptr<TimedKernel> kernel;
    {
      const Stopwatch watch(log, &GpuStatistics::compile_and_verify_seconds);
      auto compiled = compile(candidate, stop);
      if (!compiled.ok()) {
        result = failed(verify::verdict_of(compiled.error().code), compiled.error().message);
        return nullptr;
      }
      kernel = std::move(*compiled);
      const VerificationResult verified =
          verifier.verify(kernel->compiled, candidate.plan, budget.seed, stop);
      if (!verified.correct()) {
        result = failed(verified.verdict, verified.message);
        result.machine_code = kernel->compiled.machine_code();
        return nullptr;
      }
      if (const Status loaded = load(*kernel); !loaded.ok()) {
        result = failed(verify::verdict_of(loaded.error().code), loaded.error().message);
        return nullptr;
      }
    }
    const Stopwatch watch(log, &GpuStatistics::model_seconds);
    std::call_once(counting_chosen, [this] {
      counting = choose_counting(compiler, std::string(config.model.architecture));
    });
    result = predict_time(config.model, problem, kernel->compiled, candidate.plan, stop, counting);
    // A kernel that the model has no time for can still be timed; one that does wrong cannot.
    if (!result.correct()) return result.verdict == Verdict::unsupported ? kernel : nullptr;
    const bool confirming = budget.effort == EvaluationBudget::Effort::confirmation;
    return !confirming && prune(result) ? nullptr : kernel;
  }

  // Whether the prediction is far enough behind the best; the time is then scaled to it.
  bool prune(Evaluation& result) {
    if (!config.model_first) return false;
    const auto scale = best.scale_if_behind(result.time.median_seconds, config.pruned_beyond);
    if (!scale) return false;
    result.time.median_seconds *= *scale;
    result.time.low_seconds *= *scale;
    result.time.high_seconds *= *scale;
    log.count(&GpuStatistics::pruned);
    return true;
  }
};

GpuEvaluator::GpuEvaluator(Compiler& compiler, Verifier& verifier, const Problem& problem,
                           CompiledPlan original, GpuEvaluatorConfig config)
    : state_(std::make_unique<State>(compiler, verifier, problem, std::move(original),
                                     std::move(config))) {}
GpuEvaluator::~GpuEvaluator() = default;

Evaluation GpuEvaluator::evaluate(const Problem& problem, const Candidate& candidate,
                                  const EvaluationBudget& budget,
                                  const Cancellation& cancellation) {
  (void)problem;  // the one it was made for
  Evaluation result = state_->judge(candidate, budget, cancellation);
  state_->log.count(&GpuStatistics::evaluated);
  return result;
}

double GpuEvaluator::longest_seconds(const EvaluationBudget& budget, int calls) const {
  return (1.0 + calls) * budget.wall_seconds;
}

Result<MeasuredSpeedup, Failure> GpuEvaluator::measure_answer(const Candidate& best,
                                                              const Cancellation& cancellation) {
  auto kernel = state_->compile(best, cancellation);
  if (!kernel.ok()) return Failure{0, false, false, kernel.error().message};
  if (const Status loaded = State::load(**kernel); !loaded.ok())
    return Failure{0, false, false, loaded.error().message};
  const State::Turn turn(*state_, true);
  return turn.lane().measure_answer(*kernel, cancellation);
}

SanitizerReport GpuEvaluator::sanitize_answer(const Candidate& best, const SanitizerConfig& config,
                                              const Cancellation& cancellation) {
  auto kernel = state_->compile(best, cancellation);
  if (!kernel.ok()) return {{}, {}, {kernel.error().message}};
  if (const Status loaded = State::load(**kernel); !loaded.ok())
    return {{}, {}, {loaded.error().message}};
  const State::Turn turn(*state_, true);
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
    if (i == 0) statistics.clock_hertz = health.clock_hertz;
    for (const double noise : health.noise)
      statistics.noise = std::max(statistics.noise, noise);
  }
  return statistics;
}

}  // namespace regraph::gpu
