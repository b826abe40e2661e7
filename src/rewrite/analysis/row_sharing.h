// Which loops of a kernel with one thread a row can be dealt out to the lanes that share the row.
// Used by cross_thread_reduction.
#pragma once

#include "base/result.h"
#include "rewrite/analysis/reduction_loop.h"
#include "source/analysis.h"

#include <map>
#include <vector>

namespace regraph::rewrite {

struct SharedLoop {
  source::CountedLoop counted;
  std::vector<Reduction> reductions;
  std::vector<Selection> selections;
  bool repeats = false;  // stands inside another loop

  // Whether the loop's lanes have something to combine.
  [[nodiscard]] bool combines() const { return !reductions.empty() || !selections.empty(); }
};

// By the statement in the kernel that was planned.
using RowPlan = std::map<const source::Stmt*, SharedLoop>;

// Plans the sharing for a kernel without early returns and local pointers, in which every thread
// handles one row. Outermost loops are preferred. Whatever is not in a shared loop is to be done by
// all lanes alike, stores by the first lane only. Loops that are shorter than `threads` at
// every size the kernel is to be fast on are not shared. `has_barriers`: adding up after a shared
// loop synchronises the row's threads. Error: refused.
[[nodiscard]] Result<RowPlan> plan_rows(const source::Kernel& kernel,
                                        const source::Analysis& analysis, int threads,
                                        bool has_barriers, const Problem& problem);

}  // namespace regraph::rewrite
