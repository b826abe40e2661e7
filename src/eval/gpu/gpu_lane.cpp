#include "eval/gpu/gpu_lane.h"

#include "eval/gpu/protocol/gpu_run.h"
#include "eval/gpu/timing/plausible_time.h"
#include "eval/verify/fault_verdict.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace regraph::gpu {
namespace {

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

// A process that died of nothing CUDA knows (killed from outside, say) gets a second chance.
template <typename Work>
auto twice(const Work& work, const Cancellation& stop) {
  auto answer = work();
  if (answer.ok() || stop.requested()) return answer;
  const Failure& failure = answer.error();
  return failure.final && failure.cuda == 0 && !failure.timeout ? work() : answer;
}

void refuse(Evaluation& result, const std::string& message) {
  result.verdict = Verdict::unsupported;
  result.message = "the GPU cannot be used: " + message;
}

}  // namespace

GpuLane::GpuLane(const Problem& problem, Verifier& verifier,
                 std::shared_ptr<const PreparedCandidate> original, MeasuredBest& best,
                 GpuStatisticsLog& log, GpuLaneConfig config)
    : problem_(problem),
      verifier_(verifier),
      original_(std::move(original)),
      best_(best),
      log_(log),
      config_(std::move(config)) {}

bool GpuLane::judge(const std::shared_ptr<const PreparedCandidate>& given,
                    const EvaluationBudget& budget, Evaluation& result, const Cancellation& stop) {
  compared_ = false;
  judge_in_turn(given, budget, result, stop);
  return compared_;
}

void GpuLane::judge_in_turn(const std::shared_ptr<const PreparedCandidate>& given,
                            const EvaluationBudget& budget, Evaluation& result,
                            const Cancellation& stop) {
  if (stop.requested()) {
    result.verdict = Verdict::timeout;
    return;
  }
  const double predicted_seconds = result.correct() ? result.time.median_seconds : 0.0;
  if (const auto trouble = set_up(budget.seed, stop)) return refuse(result, *trouble);
  if (!pass_probation(*given, budget, result, stop)) return;
  // What is the original to the last instruction is the original.
  const bool is_original = given->plan == original_->plan &&
                           given->compiled.machine_code() == original_->compiled.machine_code();
  const std::shared_ptr<const PreparedCandidate>& kernel = is_original ? original_ : given;
  bool improved = false;
  {
    const Stopwatch watch(log_, &GpuStatistics::timing_seconds);
    if (budget.effort == EvaluationBudget::Effort::confirmation) {
      return confirm(kernel, budget.repetitions, result, stop);
    }
    improved = race(kernel, result, stop);
  }
  if (!result.correct()) return;
  log_.count(&GpuStatistics::timed);
  if (is_original || improved) profile(kernel, result, stop);
  if (!result.correct()) return;
  const bool leads = best_.offer(kernel, predicted_seconds, result.time.median_seconds);
  if (leads) followed_ = kernel;
}

// Why the GPU cannot be used; nothing when it can.
std::optional<std::string> GpuLane::set_up(std::uint64_t seed, const Cancellation& stop) {
  if (!probation_) {
    probation_ = std::make_unique<Probation>(config_.worker, problem_, verifier_, original_);
  }
  if (!session_) {
    Result<TimingConfig> timing = timing_config(seed, stop);
    if (!timing.ok()) return timing.error().message;
    session_ = std::make_unique<TimingSession>(problem_, original_, std::move(*timing));
  }
  if (baseline_) return std::nullopt;
  const Stopwatch watch(log_, &GpuStatistics::timing_seconds);
  Result<TimingReport, Failure> report =
      twice([&] { return session_->race(original_, stop); }, stop);
  if (!report.ok()) return "timing the original: " + report.error().message;
  baseline_ = *report;
  return std::nullopt;
}

Result<TimingConfig> GpuLane::timing_config(std::uint64_t seed, const Cancellation& stop) {
  const Result<Verifier::Scale> scale = verifier_.largest_test(seed, stop);
  if (!scale.ok()) return scale.error();
  TimingConfig timing;
  timing.worker = config_.worker;
  timing.seed = config_.seed;
  timing.arithmetic = scale->arithmetic;
  timing.test = scale->symbols;
  timing.make_double_shadow = config_.make_double_shadow;
  return timing;
}

bool GpuLane::pass_probation(const PreparedCandidate& kernel, const EvaluationBudget& budget,
                             Evaluation& result, const Cancellation& stop) {
  const Stopwatch watch(log_, &GpuStatistics::probation_seconds);
  Result<VerificationResult, Failure> verdict =
      twice([&] { return probation_->judge(kernel, budget.seed, stop); }, stop);
  if (!verdict.ok()) {
    refuse(result, verdict.error().message);
    return false;
  }
  if (verdict->correct()) return true;
  log_.count(&GpuStatistics::faults_on_gpu);
  result.verdict = verdict->verdict;
  result.message = verdict->message;
  return false;
}

// Another GPU found a better kernel: here, too, it is what others are raced against.
void GpuLane::follow_best(const Cancellation& stop) {
  const std::shared_ptr<const PreparedCandidate> best = best_.kernel();
  if (!best || best == followed_) return;
  followed_ = best;
  if (best == original_) return;
  // Sound on the other GPU; what goes wrong here is found when candidates are raced.
  (void)session_->race(best, stop);
}

// Whether it is faster than the best known on this GPU.
bool GpuLane::race(const std::shared_ptr<const PreparedCandidate>& kernel, Evaluation& result,
                   const Cancellation& stop) {
  TimingReport report;
  if (kernel == original_) {
    report = *baseline_;
    compared_ = true;
  } else {
    follow_best(stop);
    Result<TimingReport, Failure> raced = twice([&] { return session_->race(kernel, stop); }, stop);
    if (!raced.ok()) {
      blame(raced.error(), result);
      return false;
    }
    report = std::move(*raced);
    compared_ = std::ranges::all_of(report.benches, &BenchTiming::compared);
  }
  std::vector<TimingSummary> summaries;
  for (const BenchTiming& bench : report.benches) {
    if (!bench.difference.empty()) {
      log_.count(&GpuStatistics::faults_on_gpu);
      result.verdict = Verdict::wrong_result;
      result.message = "after timed launches at the bench size: " + bench.difference;
      return false;
    }
    if (bench.race.samples == 0) {
      refuse(result, "its clock was never steady while the kernel was timed");
      return false;
    }
    summaries.push_back(bench.race.candidate);
  }
  accept(summaries, result);
  if (!result.correct() && report.faster) session_->drop_incumbent();
  return report.faster;
}

void GpuLane::confirm(const std::shared_ptr<const PreparedCandidate>& kernel, int samples,
                      Evaluation& result, const Cancellation& stop) {
  TimingSession::Comparison comparison;
  comparison.samples = samples;
  auto pairs =
      twice([&] { return session_->compare_with_original(kernel, comparison, stop); }, stop);
  if (!pairs.ok()) return blame(pairs.error(), result);
  compared_ = true;
  std::vector<TimingSummary> summaries;
  for (const TimingSession::Pair& pair : *pairs) {
    if (!pair.difference.empty()) {
      log_.count(&GpuStatistics::faults_on_gpu);
      result.verdict = Verdict::wrong_result;
      result.message = "after timed launches at the bench size: " + pair.difference;
      return;
    }
    summaries.push_back(summarize(pair.kernel));
  }
  accept(summaries, result);
}

void GpuLane::accept(const std::vector<TimingSummary>& benches, Evaluation& result) const {
  result.verdict = Verdict::correct;
  result.message.clear();
  if (result.time.method == TimeMethod::predicted && result.time.median_seconds > 0.0)
    result.facts["predicted_seconds"] = result.time.median_seconds;
  result.time = estimate_of(benches);
  const double median = result.time.median_seconds;
  const double original_seconds = baseline_->benches.front().race.candidate.median;
  if (auto why = impossible_time(problem_, config_.model, original_seconds, median)) {
    result.verdict = Verdict::suspicious;
    result.message = *std::move(why);
    return;
  }
  if (result.roofline_seconds > 0.0) {
    result.facts["roofline_fraction"] = result.roofline_seconds / median;
  }
}

// Facts as the hardware counts them; and did the kernel do the work?
void GpuLane::profile(const std::shared_ptr<const PreparedCandidate>& kernel, Evaluation& result,
                      const Cancellation& stop) {
  if (config_.cupti.empty()) return;
  const Stopwatch watch(log_, &GpuStatistics::profiling_seconds);
  if (!profiling_) {
    profiling_ = std::make_unique<ProfilingSession>(
        problem_, ProfilingConfig{config_.worker, config_.cupti, config_.seed});
  }
  Result<CounterValues, Failure> counters = profiling_->profile(*kernel, CounterTier::detail, stop);
  if (!counters.ok()) return log_.no_counters(counters.error().message);
  log_.count(&GpuStatistics::profiled);
  CounterContext context;
  context.achievable_dram_bytes_per_second = config_.model.dram_bytes_per_second;
  context.max_warps_per_sm = config_.model.max_warps;
  if (problem_.bytes) {
    const auto bytes = problem_.bytes->evaluate(problem_.bench.back());
    if (bytes.ok()) context.compulsory_bytes = static_cast<double>(*bytes);
  }
  const Facts facts = counter_facts(*counters, context);
  if (std::string limit = counter_bottleneck(facts); !limit.empty()) result.bottleneck = limit;
  for (const auto& [name, value] : facts)
    result.facts[name] = value;
  if (kernel == original_) {
    original_counters_ = std::move(*counters);
    return;
  }
  if (!original_counters_) return;
  const std::vector<std::string> missing =
      missing_work(*counters, *original_counters_, profiling_->required());
  if (!missing.empty()) reject(kernel, "hardware counters: " + missing.front(), result);
}

// It was found out after it had become the incumbent.
void GpuLane::reject(const std::shared_ptr<const PreparedCandidate>& kernel, std::string why,
                     Evaluation& result) {
  session_->drop_incumbent();
  best_.withdraw(kernel);
  followed_.reset();
  result.verdict = Verdict::suspicious;
  result.message = std::move(why);
}

// The candidate's launches failed, or the machine did.
void GpuLane::blame(const Failure& failure, Evaluation& result) {
  const ptx::FaultKind kind = fault_kind(failure);
  if (!session_->candidates_fault() || kind == ptx::FaultKind::none) {
    return refuse(result, failure.message);
  }
  log_.count(&GpuStatistics::faults_on_gpu);
  result.verdict = verify::verdict_of(kind);
  result.message = "at the bench size, on the GPU: " + failure.message;
}

Result<MeasuredSpeedup, Failure> GpuLane::measure_answer(
    const std::shared_ptr<const PreparedCandidate>& best, const Cancellation& stop) {
  const Result<TimingConfig> timing = timing_config(config_.seed, stop);
  if (!timing.ok()) return Failure{0, false, false, timing.error().message};
  earlier_processes_ = processes();
  // Their memory is needed.
  session_.reset();
  profiling_.reset();
  probation_.reset();
  baseline_.reset();
  followed_.reset();
  Result<MeasuredSpeedup, Failure> measured =
      measure_finally(problem_, original_, best, *timing, {}, stop);
  if (measured.ok()) earlier_processes_ += measured->processes;
  return measured;
}

int GpuLane::processes() const {
  int count = earlier_processes_;
  if (profiling_) count += profiling_->processes();
  if (probation_) count += probation_->processes();
  if (session_) count += session_->health().processes;
  return count;
}

double GpuLane::original_seconds() const {
  if (!baseline_) return 0.0;
  std::vector<TimingSummary> benches;
  for (const BenchTiming& bench : baseline_->benches)
    benches.push_back(bench.race.candidate);
  return estimate_of(benches).median_seconds;
}

SessionHealth GpuLane::health() const {
  return session_ ? session_->health() : SessionHealth();
}

}  // namespace regraph::gpu
