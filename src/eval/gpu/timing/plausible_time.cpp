#include "eval/gpu/timing/plausible_time.h"

#include "eval/gpu/timing/speed_of_light.h"

#include <algorithm>

namespace regraph::gpu {

std::optional<std::string> impossible_time(const Problem& problem, const DeviceSpec& device,
                                           double original_seconds, double seconds) {
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
      device.peak_dram_bytes_per_second,
      fp32_only && problem.assume.precision == Precision::keep ? device.peak_fp32_flops() : 0.0,
      static_cast<double>(device.l2_bytes)};
  const auto plausibility = [&](double time) {
    return check_speed_of_light(time, original_seconds, work, ceilings);
  };
  if (plausibility(original_seconds).plausibility == Plausibility::impossible) return std::nullopt;
  const SpeedOfLightCheck check = plausibility(seconds);
  if (check.plausibility != Plausibility::impossible) return std::nullopt;
  return check.message;
}

}  // namespace regraph::gpu
