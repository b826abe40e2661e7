// Two kernels that are to compute the same, beside each other.
#pragma once

#include "kernel/evaluation.h"
#include "kernel/measured_speedup.h"
#include "kernel/speed_verdict.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace regraph {

// How far a comparison goes.
enum class ComparisonDepth : std::uint8_t {
  whole,  // twice, and measured times are taken once more
  once,   // as a search first looks at a candidate: a minute's work becomes seconds
};

struct KernelComparison {
  Evaluation original;
  Evaluation candidate;
  // The candidate was correct a second time, with inputs that no other check had used; or once,
  // where no more was asked for.
  bool confirmed = false;
  // Valid where the candidate is confirmed: fast or slow by separated intervals.
  SpeedVerdict verdict = SpeedVerdict::ambiguous;
  SpeedupEstimate speedup;                  // original's time over the candidate's
  std::optional<MeasuredSpeedup> measured;  // interleaved, in processes of their own
  std::vector<std::string> notes;           // for people
};

// How far two times are apart: the ratio of medians, and of the outermost bounds.
[[nodiscard]] SpeedupEstimate speedup_of(const TimeEstimate& original,
                                         const TimeEstimate& candidate);

// What a measured speedup's interval says: fast above 1, slow below it, same where it holds 1 and
// little else (2 %, what two timings of one kernel may differ by), else ambiguous.
[[nodiscard]] SpeedVerdict verdict_of(const SpeedupEstimate& speedup);

}  // namespace regraph
