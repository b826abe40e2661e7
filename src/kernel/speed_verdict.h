// What a comparison of two kernels' times came to.
#pragma once

#include <cstdint>

namespace regraph {

// Of a candidate, compared with the original or another incumbent. Whoever compares says what it
// takes for times to differ: search/final_selection.h by intervals, eval/gpu/timing by samples.
enum class SpeedVerdict : std::uint8_t {
  fast,       // shown to be faster
  slow,       // shown to be slower
  same,       // the times agree
  ambiguous,  // neither: no claim
};

// Returns "FAST", "SLOW", "SAME" or "AMBIGUOUS".
[[nodiscard]] const char* name(SpeedVerdict verdict);

}  // namespace regraph
