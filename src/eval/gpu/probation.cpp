#include "eval/gpu/probation.h"

#include "eval/verify/fault_verdict.h"
#include "eval/verify/repeated_runs.h"

#include <algorithm>

namespace regraph::gpu {
namespace {

// Test sizes are small: a kernel that runs that long there does not end.
constexpr double kTimeoutSeconds = 2.0;

// Launches of one case on the same inputs beyond the first.
constexpr int kRepetitions = 9;
// Of normally distributed sums, the largest of nine differences is more than five times that of
// another nine once in 2,800 pairs (simulated), more than three times once in 100.
constexpr double kSpreadShare = 5.0;

}  // namespace

Result<void, Failure> Probation::ensure(std::uint64_t seed, const Cancellation& stop) {
  if (process_ && process_->alive()) return {};
  process_.reset();
  Result<std::unique_ptr<GpuProcess>> started = GpuProcess::start(worker_, stop);
  if (!started.ok()) return Failure{0, true, false, started.error().message};
  process_ = std::move(*started);
  ++processes_;
  // After a fault above all: is the GPU itself in order?
  Result<VerificationResult, Failure> original = run(*original_, seed, stop);
  if (!original.ok()) return original.error();
  if (original->correct()) return {};
  process_.reset();
  return Failure{0, true, false,
                 "the original kernel gives another result on the GPU than on the interpreter: " +
                     original->message};
}

Result<VerificationResult, Failure> Probation::run(const PreparedCandidate& kernel,
                                                   std::uint64_t seed, const Cancellation& stop) {
  Result<GpuPlan, Failure> loaded =
      load_on_gpu(*process_, kernel.compiled, kernel.plan, verifier_.case_sizes(seed), stop);
  if (!loaded.ok()) {
    const ptx::FaultKind kind = fault_kind(loaded.error());
    if (kind == ptx::FaultKind::none) return loaded.error();
    VerificationResult result;
    result.verdict = verify::verdict_of(kind);
    result.message = "on the GPU: " + loaded.error().message;
    return result;
  }
  const Result<Verifier::Scale> scale = verifier_.largest_test(seed, stop);
  Error trouble;
  bool failed = false;
  int of_largest_size = 0;
  verify::RunsDifference varies;
  VerificationResult result = verifier_.verify_on(
      [&](const Problem& problem, const Symbols& symbols, const verify::Buffers& inputs,
          const verify::RunSettings& settings) {
        const GpuRunner runner{*process_, problem, *loaded, kernel.loaded, kTimeoutSeconds, stop};
        Result<verify::KernelRun> run = run_on_gpu(runner, symbols, inputs, settings);
        // Memory and workers are the machine's; the rest is the candidate's.
        failed = !run.ok() &&
                 (run.error().code == ErrorCode::resource || run.error().code == ErrorCode::io);
        if (failed) trouble = run.error();
        // The second case: the first one's inputs are small integers, whose sums do not round.
        const bool chosen = scale.ok() && symbols == scale->symbols && ++of_largest_size == 2;
        if (chosen && run.ok() && run->fault.kind == ptx::FaultKind::none) {
          varies = repeat(runner, kernel, *scale, inputs, settings, *run);
        }
        return run;
      },
      seed, stop, verify::CaseChoice::on_hardware);
  if (process_->alive()) (void)process_->free({{}, loaded->modules}, stop);
  if (failed) return Failure{0, true, false, trouble.message};
  if (&kernel == original_.get()) {
    original_varies_ = varies.message.has_value();
    original_spread_ = varies.relative_error;
  } else if (result.correct() && varies.message && !original_varies_) {
    result.verdict = Verdict::nondeterministic;
    result.message =
        "on the GPU, launches on the same inputs give different results: " + *varies.message;
  }
  return result;
}

verify::RunsDifference Probation::repeat(const GpuRunner& runner, const PreparedCandidate& kernel,
                                         const Verifier::Scale& scale,
                                         const verify::Buffers& inputs,
                                         const verify::RunSettings& settings,
                                         const verify::KernelRun& first) const {
  verify::RunsDifference most;
  const auto& launches = kernel.compiled.launches;
  const bool atomics = std::any_of(launches.begin(), launches.end(), [](const auto& launch) {
    return verify::adds_floats_atomically(launch->ptx);
  });
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    const Result<verify::KernelRun> again = run_on_gpu(runner, scale.symbols, inputs, settings);
    if (!again.ok() || again->fault.kind != ptx::FaultKind::none) return most;
    auto difference =
        verify::difference_of_runs(runner.problem, scale.symbols, first.after, again->after,
                                   atomics, scale.arithmetic, kSpreadShare * original_spread_);
    most.relative_error = std::max(most.relative_error, difference.relative_error);
    if (!most.message) most.message = std::move(difference.message);
    if (most.message && !atomics) return most;
  }
  return most;
}

Result<VerificationResult, Failure> Probation::judge(const PreparedCandidate& candidate,
                                                     std::uint64_t seed, const Cancellation& stop) {
  Result<void, Failure> ready = ensure(seed, stop);
  if (!ready.ok()) return ready.error();
  return run(candidate, seed, stop);
}

}  // namespace regraph::gpu
