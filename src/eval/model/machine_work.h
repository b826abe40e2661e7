// Machine work of an average warp, counted from the instructions that ptxas made.
#pragma once

#include "eval/model/work.h"
#include "ptx/interpreter.h"
#include "sass/execution_counts.h"
#include "sass/machine_code.h"

namespace regraph {

// Returns `counted` (work_of the same profile) with what takes time replaced: issue slots and
// instructions of each pipe are those executed; bank passes are the PTX counters' passes for one
// request times the requests that machine code makes. What describes the program (shares, sectors,
// lanes) stays. Atomics on shared memory keep their measured clocks.
[[nodiscard]] WarpWork machine_work(const sass::MachineCode& code,
                                    const sass::ExecutionCounts& counts,
                                    const ptx::Profile& profile, const WarpWork& counted);

}  // namespace regraph
