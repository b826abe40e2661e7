#include "eval/gpu/timing/exact_sums.h"

#include <algorithm>

namespace regraph::gpu {
namespace {

// Length times unit roundoff from which on sums are rough: the addends lose the last four bits of
// what they have beyond the partial sum.
constexpr double kRoughShare = 0x1p-4;

double unit_roundoff(ScalarType type) {
  return type == ScalarType::f64 ? 0x1p-53 : 0x1p-24;
}

}  // namespace

bool sums_are_rough(const Problem& problem, double reduction_length) {
  return std::ranges::any_of(problem.arguments, [&](const Argument& argument) {
    const ScalarType type = verify::judged_type(argument);
    return argument.is_output() && (type == ScalarType::f32 || type == ScalarType::f64) &&
           reduction_length * unit_roundoff(type) >= kRoughShare;
  });
}

Result<std::unique_ptr<ExactSums>, Failure> ExactSums::create(
    GpuProcess& process, const Problem& problem, const Symbols& symbols, LoadedKernel original,
    std::uint64_t seed, double timeout_seconds, const Cancellation& stop) {
  std::unique_ptr<ExactSums> none;
  if (problem.has_given_data(symbols)) return none;
  Result<BenchMemory> memory =
      BenchMemory::create(process, problem, symbols, seed, stop,
                          {.timed = false, .distribution = verify::Distribution::small_integers});
  if (!memory.ok()) {
    if (stop.requested()) return Failure{0, false, false, "cancelled"};
    return none;
  }
  std::unique_ptr<ExactSums> exact(new ExactSums(process, std::move(*memory)));
  Result<void, Failure> set = exact->memory_.set_symbols_of(original.loaded, stop);
  if (!set.ok()) return set.error();
  Result<TimedPlan> plan =
      exact->memory_.plan_of(original.loaded, original.plan, 0, RaceSide::incumbent);
  if (!plan.ok()) return Failure{1, false, false, plan.error().message};
  Result<BenchReference, Failure> reference = BenchReference::create(
      process, exact->memory_, problem, {*plan}, verify::Arithmetic(), seed, timeout_seconds, stop);
  if (!reference.ok()) return reference.error();
  if (!reference->is_exact()) return none;
  exact->reference_ = std::move(*reference);
  return exact;
}

Result<std::string, Failure> ExactSums::difference(LoadedKernel candidate, std::uint64_t seed,
                                                   double timeout_seconds,
                                                   const Cancellation& stop) {
  Result<void, Failure> set = memory_.set_symbols_of(candidate.loaded, stop);
  if (!set.ok()) return set.error();
  Result<TimedPlan> plan =
      memory_.plan_of(candidate.loaded, candidate.plan, 0, RaceSide::candidate);
  if (!plan.ok()) return Failure{1, false, false, plan.error().message};
  Result<verify::Buffers, Failure> outputs =
      run_as_timed(*process_, memory_, *plan, 0, RaceSide::candidate, seed, timeout_seconds, stop);
  if (!outputs.ok()) return outputs.error();
  return reference_->difference(*outputs, 0, seed, BenchReference::Exactness::bit_for_bit)
      .value_or("");
}

}  // namespace regraph::gpu
