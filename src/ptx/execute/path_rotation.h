// Which path of a warp runs while others wait. The stack of paths alone would run one path until it
// meets the others: but lanes that spin must not keep the lanes they wait for from running, and
// lanes that exchange values wait for those that take another way to the same place.
#pragma once

#include "ptx/decode/execution.h"

namespace regraph::ptx {

// Suspends the warp's path in favour of one that waits: a sibling of the same branch, or the lanes
// that wait where the paths meet, which then go on without the others. Only within the running
// function. Does nothing when all live lanes are on one path. `warp` stands between two records
// (Warp::resume).
void rotate_paths(Warp& warp);

// Where the paths of the running function begin on the stack.
[[nodiscard]] std::uint32_t first_path(const Warp& warp);

// The lanes of the running path and of those of its function that were suspended at `record`.
[[nodiscard]] std::uint32_t lanes_at(const Record* record, const Warp& warp);

// All live lanes are at one record: they are one path from now on.
void join_paths(Warp& warp);

// Suspends the path at `record` in favour of another that may still come there: a sibling, or any
// once paths were rotated. Returns the record to go on with; null when none can come.
[[nodiscard]] const Record* wait_for_paths(const Record* record, Warp& warp);

// The path is at `record`, a place where all live lanes must meet. Joins it with what waits there
// and suspends it unless that is all. Returns the record to go on with; null when the lanes can
// never meet: they are elsewhere, or every path waits, at different places.
[[nodiscard]] const Record* gather_paths(const Record* record, Warp& warp);

}  // namespace regraph::ptx
