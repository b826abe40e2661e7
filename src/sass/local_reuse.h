// Where a warp's accesses to local memory find what they touched before.
//
// Local memory is interleaved: the same 4-byte word of a warp's 32 threads is one line of 128
// bytes, so a place on the stack is a line a warp, and an access of n bytes touches n / 4 lines.
// How many different lines a warp touches between two accesses to one (the stack distance of
// Mattson et al. 1970) says how large a cache has to be for the second to hit.
#pragma once

#include "sass/execution_counts.h"
#include "sass/machine_code.h"

#include <cstdint>
#include <map>

namespace regraph::sass {

inline constexpr double kLocalLineBytes = 128.0;
// Beyond this many lines nothing is told apart: 32 MiB for a full SM, more than caches hold.
inline constexpr std::uint32_t kMostDistance = 4096;

// Lines of an average warp by distance: the different lines touched since the last access, itself
// included; kMostDistance also for what was not seen before.
struct LocalLines {
  double loaded = 0.0;
  // Stored to, at the longest distance until they were overwritten or used for the last time: a
  // cache too small for that had to write them.
  double written = 0.0;
};

struct LocalReuse {
  std::map<std::uint32_t, LocalLines> by_distance;
  double loaded = 0.0;  // lines, all distances
  double stored = 0.0;
  [[nodiscard]] bool empty() const { return loaded + stored <= 0.0; }
};

// `counts` must be of `code`. Loops are walked twice, as they are entered and once more for what
// they find of the pass before; three levels deep. A load with the hint "last use" (LDL.LU) drops
// its line. `frame_bytes` is the size of a thread's stack: an access through a pointer, whose place
// is not known, is taken to come back to a line when as many lines were touched as the frame has.
[[nodiscard]] LocalReuse local_reuse(const MachineCode& code, const ExecutionCounts& counts,
                                     double frame_bytes);

}  // namespace regraph::sass
