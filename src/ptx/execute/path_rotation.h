// Fairness between the paths of one warp: lanes that spin must not keep the lanes they wait for
// from running. The stack of paths alone would: it runs one path until it meets the others.
#pragma once

#include "ptx/decode/execution.h"

namespace regraph::ptx {

// Suspends the warp's path in favour of one that waits: a sibling of the same branch, or the lanes
// that wait where the paths meet, which then go on without the others. Only within the running
// function. Does nothing when all live lanes are on one path. `warp` stands between two records
// (Warp::resume).
void rotate_paths(Warp& warp);

// The path is at `record`, a place where all live lanes must meet, and paths were rotated before.
// Joins it with what waits there and suspends it unless that is all. Returns the record to go on
// with; null when the lanes can never meet: every path waits, at different places.
[[nodiscard]] const Record* gather_paths(const Record* record, Warp& warp);

}  // namespace regraph::ptx
