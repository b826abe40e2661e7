#include "eval/gpu/timing/double_reference.h"

#include "eval/gpu/timing/present_buffer.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include <array>
#include <cmath>
#include <cstring>
#include <functional>

namespace regraph::gpu {
namespace {

// As verify::exact_outputs asks: the original must be near its translation.
constexpr double kPlausible = 1e-2;

struct Norms {
  double exact = 0.0;  // squares
  double error = 0.0;
  Norms operator+(const Norms& other) const { return {exact + other.exact, error + other.error}; }
};

// What the shadow leaves; nothing where it cannot be launched. Errors: as of create.
Result<std::optional<verify::Buffers>, Failure> outputs_of(GpuProcess& process, BenchMemory& memory,
                                                           const verify::DoubleShadow& shadow,
                                                           std::uint64_t poison_seed,
                                                           double timeout_seconds,
                                                           const Cancellation& stop) {
  std::optional<verify::Buffers> result;
  const std::array sizes{memory.symbols()};
  const Result<GpuPlan, Failure> loaded =
      load_on_gpu(process, shadow.compiled, shadow.problem.launch, sizes, stop);
  if (!loaded.ok()) {
    if (loaded.error().final) return loaded.error();
    return result;
  }
  Result<void, Failure> done = memory.set_symbols_of(*loaded, stop);
  if (!done.ok()) return done.error();
  const Result<TimedPlan> plan = memory.plan_of(*loaded, shadow.plan, 0, RaceSide::incumbent);
  if (plan.ok()) {
    Result<verify::Buffers, Failure> outputs = run_as_timed(
        process, memory, *plan, 0, RaceSide::incumbent, poison_seed, timeout_seconds, stop);
    if (!outputs.ok() && outputs.error().final) return outputs.error();
    if (outputs.ok()) result = std::move(*outputs);
  }
  done = process.free({{}, loaded->modules}, stop);
  if (!done.ok()) return done.error();
  return result;
}

template <typename Number>
Number number_at(const std::vector<std::byte>& bytes, std::size_t element) {
  Number value{};
  std::memcpy(&value, &bytes[element * sizeof(Number)], sizeof(Number));
  return value;
}

}  // namespace

std::optional<verify::Buffers> rounded_from_double(
    const Problem& problem, const verify::Buffers& original, const verify::Buffers& exact,
    const std::vector<std::vector<std::uint8_t>>& untouched) {
  verify::Buffers rounded(original.size());
  for (std::size_t i = 0; i < original.size(); ++i) {
    if (!problem.arguments[i].is_output()) continue;
    rounded[i] = present_buffer(original[i].size());
    std::copy(original[i].begin(), original[i].end(), rounded[i].begin());
    if (problem.arguments[i].type != ScalarType::f32) continue;
    const std::size_t elements = original[i].size() / sizeof(float);
    if (exact[i].size() != elements * sizeof(double)) return std::nullopt;
    const std::vector<std::uint8_t>& skipped = untouched[i];
    const auto part = [&](const tbb::blocked_range<std::size_t>& range, Norms norms) {
      for (std::size_t e = range.begin(); e < range.end(); ++e) {
        if (!skipped.empty() && skipped[e] != 0) continue;
        const auto own = number_at<float>(original[i], e);
        const auto truth = number_at<double>(exact[i], e);
        const auto nearest = static_cast<float>(truth);
        if (!std::isfinite(own) || !std::isfinite(nearest)) continue;
        norms = norms + Norms{truth * truth, (truth - own) * (truth - own)};
        std::memcpy(&rounded[i][e * sizeof(float)], &nearest, sizeof(float));
      }
      return norms;
    };
    const Norms norms = tbb::parallel_reduce(tbb::blocked_range<std::size_t>(0, elements), Norms(),
                                             part, std::plus<>());
    if (!(norms.exact > 0.0) || !(std::sqrt(norms.error) <= kPlausible * std::sqrt(norms.exact)))
      return std::nullopt;
  }
  return rounded;
}

Result<std::unique_ptr<DoubleReference>, Failure> DoubleReference::create(
    GpuProcess& process, const Problem& problem, const verify::DoubleShadow& shadow,
    const BenchReference& reference, Seeds seeds, double timeout_seconds,
    const Cancellation& stop) {
  std::unique_ptr<DoubleReference> none;
  Result<BenchMemory> memory =
      BenchMemory::create(process, shadow.problem, reference.symbols(), seeds.inputs, stop,
                          {.timed = false, .in_single = &problem});
  if (!memory.ok()) {
    if (stop.requested()) return Failure{0, false, false, "cancelled"};
    return none;
  }
  const Result<std::optional<verify::Buffers>, Failure> exact =
      outputs_of(process, *memory, shadow, seeds.poison, timeout_seconds, stop);
  if (!exact.ok()) return exact.error();
  const Result<void, Failure> freed = memory->release(stop);
  if (!freed.ok()) return freed.error();
  if (!*exact) return none;
  std::optional<verify::Buffers> expected =
      rounded_from_double(problem, reference.expected(0), **exact, reference.untouched());
  if (!expected) return none;
  BenchReference truth = reference.with(std::move(*expected));
  if (!reference.difference_from(truth)) return none;
  return std::unique_ptr<DoubleReference>(new DoubleReference(std::move(truth)));
}

}  // namespace regraph::gpu
