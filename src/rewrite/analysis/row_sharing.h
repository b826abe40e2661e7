// Which loops of a kernel with one thread a row can be dealt out to the lanes that share the row.
// Used by cross_thread_reduction, slice_reduction, cross_thread_scan and slice_scan.
#pragma once

#include "base/result.h"
#include "rewrite/analysis/reduction_loop.h"
#include "rewrite/analysis/scan_loop.h"
#include "source/analysis.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace regraph::rewrite {

struct SharedLoop {
  source::CountedLoop counted;
  std::vector<Reduction> reductions;
  std::vector<Selection> selections;
  std::optional<ScanLoop> scan;  // where accumulators are used while the loop runs
  bool repeats = false;          // stands inside another loop

  // Whether the loop's lanes have something to combine.
  [[nodiscard]] bool combines() const { return !reductions.empty() || !selections.empty(); }
};

// By the statement in the kernel that was planned.
using RowPlan = std::map<const source::Stmt*, SharedLoop>;

// Whether loops may use what they have accumulated so far.
enum class RunningValues : bool { refused, allowed };

// Plans the sharing for a kernel without early returns and local pointers, in which every thread
// handles one row. Outermost loops are preferred. Whatever is not in a shared loop is to be done by
// all lanes alike, stores by the first lane only. Loops that are shorter than `threads` at
// every size the kernel is to be fast on are not shared. `has_barriers`: adding up after a shared
// loop synchronises the row's threads. Error: refused.
[[nodiscard]] Result<RowPlan> plan_rows(const source::Kernel& kernel,
                                        const source::Analysis& analysis, int threads,
                                        bool has_barriers, const Problem& problem,
                                        RunningValues running = RunningValues::refused);

// Refuses loops of a plan, of a normalised kernel, that not all threads of a block reach, and scans
// that have more rounds for some of them: for threads that share barriers though they have rows of
// their own.
[[nodiscard]] Status require_all_reach(const RowPlan& plan, const source::Kernel& kernel,
                                       const source::Analysis& analysis);

// Bytes of shared memory in which `threads` threads of a block, which have rows of their own,
// combine what the loops of a plan accumulate.
[[nodiscard]] std::int64_t slot_bytes(const RowPlan& plan, int threads);

// Whether a loop of the plan uses what it has accumulated so far.
[[nodiscard]] bool has_scan(const RowPlan& plan);

}  // namespace regraph::rewrite
