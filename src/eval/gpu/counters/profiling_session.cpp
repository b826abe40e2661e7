#include "eval/gpu/counters/profiling_session.h"

#include "base/random.h"

#include <utility>

namespace regraph::gpu {

Result<void, Failure> ProfilingSession::ensure(const Cancellation& stop) {
  if (!unavailable_.empty()) return Failure{0, false, false, unavailable_};
  if (process_ && process_->alive()) return {};
  memory_.reset();
  Result<std::unique_ptr<GpuProcess>> started = GpuProcess::start(config_.worker, stop);
  if (!started.ok()) return Failure{0, true, false, started.error().message};
  process_ = std::move(*started);
  ++processes_;
  Result<BenchMemory> memory =
      BenchMemory::create(*process_, problem_, problem_.bench.back(), random_bits(config_.seed, 31),
                          stop, {.timed = false});
  if (!memory.ok()) {
    process_.reset();
    return Failure{0, true, false, memory.error().message};
  }
  memory_ = std::move(*memory);
  return {};
}

Result<CounterValues, Failure> ProfilingSession::profile(const PreparedCandidate& kernel,
                                                         CounterTier tier,
                                                         const Cancellation& stop) {
  Result<void, Failure> ready = ensure(stop);
  if (!ready.ok()) return ready.error();
  Result<GpuPlan, Failure> loaded =
      load_on_gpu(*process_, kernel.compiled, kernel.plan, problem_.bench, stop);
  if (!loaded.ok()) return loaded.error();
  Result<void, Failure> set = memory_->set_symbols_of(*loaded, stop);
  if (!set.ok()) return set.error();
  Result<TimedPlan> plan = memory_->plan_of(*loaded, kernel.loaded, 0, RaceSide::candidate);
  if (!plan.ok()) return Failure{0, false, false, plan.error().message};
  ProfileRequest request;
  request.plan = std::move(*plan);
  request.tier = static_cast<int>(tier);
  request.cupti = config_.cupti;
  request.poison_seed = random_bits(config_.seed, 37);
  request.timeout_seconds = config_.timeout_seconds;
  Result<ProfileResponse, Failure> profiled = process_->profile(request, stop);
  if (process_->alive()) (void)process_->free({{}, loaded->modules}, stop);
  if (!profiled.ok()) {
    // Neither the kernel's fault nor an accident: it will not be otherwise the next time.
    const Failure& failure = profiled.error();
    if (failure.cuda == 0 && !failure.final && !failure.timeout) unavailable_ = failure.message;
    return failure;
  }
  return CounterValues(profiled->values.begin(), profiled->values.end());
}

RequiredWork ProfilingSession::required() const {
  if (!memory_) return {};
  std::optional<double> moved_bytes;
  if (problem_.bytes) {
    const auto bytes = problem_.bytes->evaluate(memory_->symbols());
    if (bytes.ok() && *bytes > 0) moved_bytes = static_cast<double>(*bytes);
  }
  RequiredWork required{
      required_input_bytes(memory_->input_bytes(), memory_->output_bytes(), moved_bytes),
      memory_->output_bytes()};
  if (problem_.flops) {
    const auto flops = problem_.flops->evaluate(memory_->symbols());
    if (flops.ok() && *flops > 0) required.flops = static_cast<double>(*flops);
  }
  return required;
}

}  // namespace regraph::gpu
