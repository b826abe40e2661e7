#include "eval/gpu/timing/speed_of_light.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace regraph::gpu {

double speed_of_light_seconds(const CompulsoryWork& work, const DeviceCeilings& ceilings) {
  double seconds = 0.0;
  if (ceilings.copy_bytes_per_second > 0.0) {
    const double bytes = work.read_bytes + std::max(0.0, work.written_bytes - ceilings.l2_bytes);
    seconds = bytes / ceilings.copy_bytes_per_second;
  }
  if (ceilings.flops_per_second > 0.0)
    seconds = std::max(seconds, work.flops / ceilings.flops_per_second);
  return seconds;
}

SpeedOfLightCheck check_speed_of_light(double candidate_seconds, double baseline_seconds,
                                       const CompulsoryWork& work, const DeviceCeilings& ceilings) {
  SpeedOfLightCheck check;
  check.speed_of_light_seconds = speed_of_light_seconds(work, ceilings);
  if (!std::isfinite(candidate_seconds) || !(candidate_seconds > 0.0)) {
    check.plausibility = Plausibility::impossible;
    check.message = fmt::format("{} s is no time", candidate_seconds);
    return check;
  }
  if (baseline_seconds > 0.0) check.speedup = baseline_seconds / candidate_seconds;
  if (candidate_seconds < kImpossibleShare * check.speed_of_light_seconds) {
    check.plausibility = Plausibility::impossible;
    check.message = fmt::format(
        "{:.3g} us is impossible: moving the compulsory {:.4g} MB and computing {:.4g} GFLOP takes "
        "at least {:.3g} us on this device",
        1e6 * candidate_seconds, 1e-6 * (work.read_bytes + work.written_bytes), 1e-9 * work.flops,
        1e6 * check.speed_of_light_seconds);
  } else if (check.speedup > kQuarantineSpeedup) {
    check.plausibility = Plausibility::quarantine;
    check.message =
        fmt::format("{:.3g} times as fast as the original: to be verified in full", check.speedup);
  }
  return check;
}

}  // namespace regraph::gpu
