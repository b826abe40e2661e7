#include "session/kernel_comparison.h"

namespace regraph {

namespace {

constexpr double kSameTime = 0.02;

}  // namespace

SpeedupEstimate speedup_of(const TimeEstimate& original, const TimeEstimate& candidate) {
  return {original.median_seconds / candidate.median_seconds,
          original.low_seconds / candidate.high_seconds,
          original.high_seconds / candidate.low_seconds};
}

SpeedVerdict verdict_of(const SpeedupEstimate& speedup) {
  if (speedup.low > 1.0) return SpeedVerdict::fast;
  if (speedup.high < 1.0) return SpeedVerdict::slow;
  const bool narrow = speedup.low >= 1.0 - kSameTime && speedup.high <= 1.0 + kSameTime;
  return narrow ? SpeedVerdict::same : SpeedVerdict::ambiguous;
}

}  // namespace regraph
