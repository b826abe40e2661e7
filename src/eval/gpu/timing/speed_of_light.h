// The gate against times that cannot be: no kernel is faster than its compulsory work allows. Pure.
#pragma once

#include <cstdint>
#include <string>

namespace regraph::gpu {

// What any correct kernel must do, each byte counted once. 0 when not known.
struct CompulsoryWork {
  double read_bytes = 0.0;
  double written_bytes = 0.0;
  double flops = 0.0;
};

// What the device achieves, measured; 0 when not known.
struct DeviceCeilings {
  double copy_bytes_per_second = 0.0;  // reads and writes together
  double flops_per_second = 0.0;       // of the fastest pipe the kernel may use
  double l2_bytes = 0.0;               // output that may still be in the L2 when the kernel ends
};

inline constexpr double kImpossibleShare = 0.9;     // of the speed-of-light time
inline constexpr double kQuarantineSpeedup = 10.0;  // over the baseline; KernelBench flags the same

// Seconds that a launch on cold caches takes at least: the larger of DRAM bytes over bandwidth and
// flops over peak (roofline: Williams, Waterman, Patterson, CACM 52 (2009)). Output up to the L2's
// size need not have reached DRAM. 0 when nothing is known.
[[nodiscard]] double speed_of_light_seconds(const CompulsoryWork& work,
                                            const DeviceCeilings& ceilings);

enum class Plausibility : std::uint8_t {
  plausible,
  quarantine,  // verify in full before believing it
  impossible,  // not a time of this work
};

struct SpeedOfLightCheck {
  Plausibility plausibility = Plausibility::plausible;
  double speed_of_light_seconds = 0.0;
  double speedup = 1.0;  // over the baseline
  std::string message;   // why not plausible, in words
};

// Checks a median measured on cold caches. Times must be above 0; a time that is not, or not
// finite, is impossible.
[[nodiscard]] SpeedOfLightCheck check_speed_of_light(double candidate_seconds,
                                                     double baseline_seconds,
                                                     const CompulsoryWork& work,
                                                     const DeviceCeilings& ceilings);

}  // namespace regraph::gpu
