// Exchanges between lanes of a warp (shfl, vote, match, redux, elect, bar.warp.sync) whose lanes
// come on different paths. PTX: the executing thread waits until all non-exited threads that the
// member mask names have executed the instruction with that mask.
#pragma once

#include "ptx/decode/execution.h"

namespace regraph::ptx {

// Whether `record` is such an exchange. Its mask is the register at Record::immediate, unless
// Record::flags has kAllMembers.
[[nodiscard]] bool exchanges_lanes(const Record& record);

// Executes `exchange` for every set of lanes that named the same mask and are all there, and
// suspends the others, or all, until those that they wait for come. Where these cannot come any
// more, as in code that names lanes which take no part, the lanes that are there exchange among
// themselves; where they wait at a barrier, which is a deadlock, a fault says so. Returns the
// record to go on with; null after a fault.
[[nodiscard]] const Record* exchange_apart(const Record* record, Warp& warp, Handler exchange);

}  // namespace regraph::ptx
