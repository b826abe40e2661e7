#include "eval/gpu/probation.h"

#include "eval/gpu/gpu_run.h"
#include "eval/verify/fault_verdict.h"

namespace regraph::gpu {
namespace {

// Test sizes are small: a kernel that runs that long there does not end.
constexpr double kTimeoutSeconds = 2.0;

}  // namespace

Answer<Done> Probation::ensure(std::uint64_t seed, const Cancellation& stop) {
  if (process_ && process_->alive()) return Done();
  process_.reset();
  Result<std::unique_ptr<GpuProcess>> started = GpuProcess::start(worker_, stop);
  if (!started.ok()) return Failure{0, true, false, started.error().message};
  process_ = std::move(*started);
  ++processes_;
  // After a fault above all: is the GPU itself in order?
  Answer<VerificationResult> original = run(*original_, seed, stop);
  if (!original.ok()) return original.failure();
  if (original->correct()) return Done();
  process_.reset();
  return Failure{0, true, false,
                 "the original kernel gives another result on the GPU than on the interpreter: " +
                     original->message};
}

Answer<VerificationResult> Probation::run(const TimedKernel& kernel, std::uint64_t seed,
                                          const Cancellation& stop) {
  Answer<GpuPlan> loaded =
      load_on_gpu(*process_, kernel.compiled, kernel.plan, problem_.tests, stop);
  if (!loaded.ok()) {
    const ptx::FaultKind kind = fault_kind(loaded.failure());
    if (kind == ptx::FaultKind::none) return loaded.failure();
    VerificationResult result;
    result.verdict = verify::verdict_of(kind);
    result.message = "on the GPU: " + loaded.failure().message;
    return result;
  }
  const GpuRunner runner{*process_, problem_, *loaded, kernel.loaded, kTimeoutSeconds, stop};
  Error trouble;
  bool failed = false;
  VerificationResult result = verifier_.verify_on(
      [&](const Symbols& symbols, const verify::Buffers& inputs,
          const verify::RunSettings& settings) {
        Result<verify::KernelRun> run = run_on_gpu(runner, symbols, inputs, settings);
        // Memory and workers are the machine's; the rest is the candidate's.
        failed = !run.ok() &&
                 (run.error().code == ErrorCode::resource || run.error().code == ErrorCode::io);
        if (failed) trouble = run.error();
        return run;
      },
      seed, stop);
  if (process_->alive()) (void)process_->free({{}, loaded->modules}, stop);
  if (failed) return Failure{0, true, false, trouble.message};
  return result;
}

Answer<VerificationResult> Probation::judge(const TimedKernel& candidate, std::uint64_t seed,
                                            const Cancellation& stop) {
  Answer<Done> ready = ensure(seed, stop);
  if (!ready.ok()) return ready.failure();
  return run(candidate, seed, stop);
}

}  // namespace regraph::gpu
