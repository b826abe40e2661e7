// Which loops of a kernel with one thread a row can be dealt out to the lanes that share the row.
// Used by cross_thread_reduction, slice_reduction, cross_thread_scan and slice_scan.
#pragma once

#include "base/result.h"
#include "kernel/problem.h"
#include "rewrite/analysis/row_plan.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

namespace regraph::rewrite {

// Whether loops may use what they have accumulated so far.
enum class RunningValues : bool { refused, allowed };

// Plans the sharing for a kernel without early returns and local pointers, in which every thread
// handles one row. Outermost loops are preferred. Whatever is not in a shared loop is to be done by
// all lanes alike, stores by the first lane only. Loops that are shorter than `threads` at
// every size the kernel is to be fast on are not shared. `has_barriers`: adding up after a shared
// loop synchronises the row's threads. Error: refused.
[[nodiscard]] Result<RowPlan> plan_rows(const Kernel& kernel, const Analysis& analysis, int threads,
                                        bool has_barriers, const Problem& problem,
                                        RunningValues running = RunningValues::refused);

}  // namespace regraph::rewrite
