// The loops of a kernel with one thread a row that are dealt out to the threads that share the row,
// and what has to be known of them. row_sharing.h finds them.
#pragma once

#include "base/result.h"
#include "kernel/problem.h"
#include "rewrite/analysis/reduction_loop.h"
#include "rewrite/analysis/scan_loop.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace regraph::rewrite {

struct SharedLoop {
  CountedLoop counted;
  std::vector<Reduction> reductions;
  std::vector<Selection> selections;
  std::optional<ScanLoop> scan;  // where accumulators are used while the loop runs
  bool repeats = false;          // stands inside another loop
  // Where in its body the loop scales sums, and by what; see OnlineUpdates.
  struct Growth {
    std::size_t position = 0;
    std::string value;
    std::string maximum;
  };
  std::optional<Growth> growth;

  // Whether the loop's lanes have something to combine.
  [[nodiscard]] bool combines() const { return !reductions.empty() || !selections.empty(); }
};

// By the statement in the kernel that was planned.
using RowPlan = std::map<const Stmt*, SharedLoop>;

// Refuses loops of a plan, of a normalised kernel, that not all threads of a block reach, and scans
// that have more rounds for some of them: for threads that share barriers though they have rows of
// their own.
[[nodiscard]] Status require_all_reach(const RowPlan& plan, const Kernel& kernel,
                                       const Analysis& analysis);

// Bytes of shared memory in which `threads` threads of a block, which have rows of their own,
// combine what the loops of a plan accumulate.
[[nodiscard]] std::int64_t slot_bytes(const RowPlan& plan, int threads);

// The largest of the values at the sizes that the kernel is to be fast on; nothing where the sizes
// alone do not decide them.
[[nodiscard]] std::optional<std::int64_t> largest_at_bench_sizes(const Polynomial& value,
                                                                 const Problem& problem);

// Whether a loop of the plan uses what it has accumulated so far.
[[nodiscard]] bool has_scan(const RowPlan& plan);

}  // namespace regraph::rewrite
