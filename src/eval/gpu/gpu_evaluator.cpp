#include "eval/gpu/gpu_evaluator.h"

#include "base/deadline.h"
#include "eval/gpu/gpu_run.h"
#include "eval/gpu/harness_kernels.h"
#include "eval/gpu/probation.h"
#include "eval/gpu/speed_of_light.h"
#include "eval/model/model_evaluator.h"
#include "eval/verify/fault_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace regraph::gpu {
namespace {

using Clock = std::chrono::steady_clock;

// Adds the time until its end to a total.
class Stopwatch {
 public:
  Stopwatch(std::mutex& mutex, double& total) : mutex_(mutex), total_(total) {}
  ~Stopwatch() {
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    const std::lock_guard lock(mutex_);
    total_ += seconds;
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  std::mutex& mutex_;
  double& total_;
  Clock::time_point start_ = Clock::now();
};

Evaluation failed(Verdict verdict, std::string message) {
  Evaluation result;
  result.verdict = verdict;
  result.message = std::move(message);
  return result;
}

// Geometric means over the bench sizes.
TimeEstimate estimate_of(const std::vector<TimingSummary>& benches) {
  double median_log = 0.0;
  double low_log = 0.0;
  double high_log = 0.0;
  TimeEstimate time;
  time.method = TimeMethod::measured;
  for (const TimingSummary& bench : benches) {
    median_log += std::log(bench.median);
    low_log += std::log(bench.minimum);
    high_log += std::log(bench.third_quartile);
    time.samples += bench.count;
  }
  const auto count = static_cast<double>(std::max<std::size_t>(benches.size(), 1));
  time.median_seconds = std::exp(median_log / count);
  time.low_seconds = std::exp(low_log / count);
  time.high_seconds = std::exp(high_log / count);
  return time;
}

}  // namespace

Result<std::vector<std::uint8_t>> compile_harness(Compiler& compiler,
                                                  const std::string& architecture,
                                                  const Cancellation& cancellation) {
  CompileRequest request;
  request.source = kHarnessSource;
  request.kernel = kStampKernel;
  request.architecture = architecture;
  const Result<CompiledKernel> compiled = compiler.compile(request, cancellation);
  if (!compiled.ok()) return compiled.error();
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(compiled->cubin.data());
  return std::vector<std::uint8_t>(bytes, bytes + compiled->cubin.size());
}

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
  }

  Compiler& compiler;
  Verifier& verifier;
  const Problem& problem;
  const GpuEvaluatorConfig config;
  std::shared_ptr<const TimedKernel> original;

  // The GPU: one candidate at a time.
  std::mutex gpu_mutex;
  std::unique_ptr<Probation> probation;
  std::unique_ptr<TimingSession> session;
  bool baseline_timed = false;

  // What predictions are scaled by.
  std::mutex best_mutex;
  double best_predicted = 0.0;  // of the fastest kernel measured so far, 0 before
  double best_measured = 0.0;

  mutable std::mutex statistics_mutex;
  GpuStatistics statistics;

  Evaluation judge(const Candidate& candidate, const EvaluationBudget& budget,
                   const Cancellation& stop) {
    auto kernel = std::make_shared<TimedKernel>();
    kernel->plan = candidate.plan;
    Evaluation result;
    {
      const Stopwatch watch(statistics_mutex, statistics.compile_and_verify_seconds);
      auto compiled = compile_plan(compiler, candidate.source, candidate.plan,
                                   std::string(config.model.architecture), stop);
      if (!compiled.ok())
        return failed(verify::verdict_of(compiled.error().code), compiled.error().message);
      kernel->compiled = std::move(*compiled);
      const VerificationResult verified =
          verifier.verify(kernel->compiled, candidate.plan, budget.seed, stop);
      if (!verified.correct()) {
        result = failed(verified.verdict, verified.message);
        result.machine_code = kernel->compiled.machine_code();
        return result;
      }
      auto loaded = verify::load_plan(kernel->compiled, candidate.plan);
      if (!loaded.ok())
        return failed(verify::verdict_of(loaded.error().code), loaded.error().message);
      kernel->loaded = std::move(*loaded);
    }
    {
      const Stopwatch watch(statistics_mutex, statistics.model_seconds);
      result = predict_time(config.model, problem, kernel->compiled, candidate.plan, stop);
    }
    // A kernel that the model has no time for can still be timed; one that does wrong cannot.
    const bool predicted = result.correct();
    if (!predicted && result.verdict != Verdict::unsupported) return result;
    const double seconds = predicted ? result.time.median_seconds : 0.0;
    const bool confirming = budget.effort == EvaluationBudget::Effort::confirmation;
    if (predicted && !confirming && prune(result)) return result;
    measure(kernel, budget, seconds, result, stop);
    return result;
  }

  // Whether the prediction is far enough from the best; the time is then scaled to it.
  bool prune(Evaluation& result) {
    const std::lock_guard lock(best_mutex);
    if (!config.model_first || best_predicted <= 0.0) return false;
    if (result.time.median_seconds <= config.pruned_beyond * best_predicted) return false;
    const double scale = best_measured / best_predicted;
    result.time.median_seconds *= scale;
    result.time.low_seconds *= scale;
    result.time.high_seconds *= scale;
    const std::lock_guard counting(statistics_mutex);
    ++statistics.pruned;
    return true;
  }

  // Replaces time and verdict of `result` by the GPU's.
  void measure(const std::shared_ptr<TimedKernel>& given, const EvaluationBudget& budget,
               double predicted_seconds, Evaluation& result, const Cancellation& stop) {
    std::unique_lock gpu(gpu_mutex, std::defer_lock);
    {
      const Stopwatch watch(statistics_mutex, statistics.waiting_seconds);
      gpu.lock();
    }
    if (stop.requested()) {
      result.verdict = Verdict::timeout;
      return;
    }
    if (const auto trouble = set_up(budget.seed, stop)) return refuse(result, *trouble);
    {
      const Stopwatch watch(statistics_mutex, statistics.probation_seconds);
      Answer<VerificationResult> verdict = probation->judge(*given, budget.seed, stop);
      if (!verdict.ok()) return refuse(result, verdict.failure().message);
      if (!verdict->correct()) {
        count_fault();
        result.verdict = verdict->verdict;
        result.message = verdict->message;
        return;
      }
    }
    // The original and what is the same to the last instruction are one kernel.
    const bool is_original = given->plan == original->plan &&
                             given->compiled.machine_code() == original->compiled.machine_code();
    const std::shared_ptr<const TimedKernel> kernel = is_original ? original : given;
    const Stopwatch watch(statistics_mutex, statistics.timing_seconds);
    if (budget.effort == EvaluationBudget::Effort::confirmation) {
      confirm(kernel, budget.repetitions, result, stop);
    } else {
      race(kernel, is_original, predicted_seconds, result, stop);
    }
  }

  // Why the GPU cannot be used; nothing when it can.
  std::optional<std::string> set_up(std::uint64_t seed, const Cancellation& stop) {
    if (!probation) {
      probation = std::make_unique<Probation>(config.worker, problem, verifier, original);
    }
    if (!session) {
      const Result<Verifier::Scale> scale = verifier.largest_test(seed, stop);
      if (!scale.ok()) return scale.error().message;
      TimingConfig timing;
      timing.worker = config.worker;
      timing.seed = config.seed;
      timing.arithmetic = scale->arithmetic;
      timing.test = scale->symbols;
      session = std::make_unique<TimingSession>(problem, original, std::move(timing));
    }
    if (baseline_timed) return std::nullopt;
    Answer<TimingReport> report = session->race(original, stop);
    if (!report.ok()) return "timing the original: " + report.failure().message;
    baseline_timed = true;
    baseline = *report;
    return std::nullopt;
  }
  std::optional<TimingReport> baseline;

  static void refuse(Evaluation& result, const std::string& message) {
    result.verdict = Verdict::unsupported;
    result.message = "the GPU cannot be used: " + message;
  }

  void count_fault() {
    const std::lock_guard lock(statistics_mutex);
    ++statistics.faults_on_gpu;
  }

  // The candidate's launches failed, or the machine did.
  void blame(const Failure& failure, Evaluation& result) {
    const ptx::FaultKind kind = fault_kind(failure);
    if (!session->candidates_fault() || kind == ptx::FaultKind::none) {
      return refuse(result, failure.message);
    }
    count_fault();
    result.verdict = verify::verdict_of(kind);
    result.message = "at the bench size, on the GPU: " + failure.message;
  }

  void race(const std::shared_ptr<const TimedKernel>& kernel, bool is_original,
            double predicted_seconds, Evaluation& result, const Cancellation& stop) {
    TimingReport report;
    if (is_original && baseline) {
      report = *baseline;
    } else {
      Answer<TimingReport> raced = session->race(kernel, stop);
      if (!raced.ok()) return blame(raced.failure(), result);
      report = std::move(*raced);
    }
    std::vector<TimingSummary> summaries;
    for (const BenchTiming& bench : report.benches) {
      if (!bench.difference.empty()) {
        count_fault();
        result.verdict = Verdict::wrong_result;
        result.message = "after timed launches at the bench size: " + bench.difference;
        return;
      }
      summaries.push_back(bench.race.candidate);
    }
    accept(summaries, predicted_seconds, result);
    const std::lock_guard lock(statistics_mutex);
    ++statistics.timed;
  }

  void confirm(const std::shared_ptr<const TimedKernel>& kernel, int samples, Evaluation& result,
               const Cancellation& stop) {
    auto pairs = session->compare_with_original(kernel, samples, stop);
    if (!pairs.ok()) return blame(pairs.failure(), result);
    std::vector<TimingSummary> summaries;
    for (const TimingSession::Pair& pair : *pairs)
      summaries.push_back(pair.kernel);
    accept(summaries, 0.0, result);
  }

  void accept(const std::vector<TimingSummary>& summaries, double predicted_seconds,
              Evaluation& result) {
    result.verdict = Verdict::correct;
    result.message.clear();
    result.time = estimate_of(summaries);
    const double median = result.time.median_seconds;
    if (const auto impossible = beyond_light(median)) {
      result.verdict = Verdict::suspicious;
      result.message = *impossible;
      return;
    }
    if (result.roofline_seconds > 0.0) {
      result.facts["roofline_fraction"] = result.roofline_seconds / median;
    }
    const std::lock_guard lock(best_mutex);
    if (predicted_seconds <= 0.0 || (best_measured > 0.0 && median >= best_measured)) return;
    best_measured = median;
    best_predicted = predicted_seconds;
  }

  // Why a time cannot be, where the manifest says what must be done at least.
  [[nodiscard]] std::optional<std::string> beyond_light(double median) const {
    if (problem.bench.size() != 1) return std::nullopt;
    const auto amount = [&](const std::optional<IntegerExpression>& expression) {
      if (!expression) return 0.0;
      const auto value = expression->evaluate(problem.bench.front());
      return value.ok() ? static_cast<double>(*value) : 0.0;
    };
    const CompulsoryWork work{amount(problem.bytes), 0.0, amount(problem.flops)};
    // Half-precision and tensor pipes do more than the model's fp32 peak.
    const bool fp32_only =
        std::all_of(problem.arguments.begin(), problem.arguments.end(), [](const Argument& one) {
          return !one.is_pointer || one.type == ScalarType::f32 || one.type == ScalarType::f64;
        });
    const DeviceCeilings ceilings{
        config.model.peak_dram_bytes_per_second,
        fp32_only && problem.assume.keep_precision ? config.model.peak_fp32_flops() : 0.0,
        static_cast<double>(config.model.l2_bytes)};
    if (!baseline) return std::nullopt;
    const double original_seconds = baseline->benches.front().race.candidate.median;
    const SpeedOfLightCheck original_check =
        check_speed_of_light(original_seconds, original_seconds, work, ceilings);
    // The manifest claims more work than there is.
    if (original_check.plausibility == Plausibility::impossible) return std::nullopt;
    const SpeedOfLightCheck check = check_speed_of_light(median, original_seconds, work, ceilings);
    if (check.plausibility != Plausibility::impossible) return std::nullopt;
    return check.message;
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
  const Deadline deadline(budget.wall_seconds, cancellation);
  Evaluation result = state_->judge(candidate, budget, deadline.cancellation());
  if (deadline.expired() && !result.correct()) {
    result.verdict = Verdict::timeout;
    result.message = fmt::format("not judged within {:g} seconds", budget.wall_seconds);
  }
  const std::lock_guard lock(state_->statistics_mutex);
  ++state_->statistics.evaluated;
  return result;
}

GpuStatistics GpuEvaluator::statistics() const {
  GpuStatistics statistics;
  {
    const std::lock_guard lock(state_->statistics_mutex);
    statistics = state_->statistics;
  }
  const std::lock_guard gpu(state_->gpu_mutex);
  if (state_->probation) statistics.workers += state_->probation->processes();
  if (state_->session) {
    const SessionHealth health = state_->session->health();
    statistics.workers += health.processes;
    statistics.clock_hertz = health.clock_hertz;
    for (const double noise : health.noise)
      statistics.noise = std::max(statistics.noise, noise);
  }
  return statistics;
}

}  // namespace regraph::gpu
