#include "rewrite/analysis/row_plan.h"

#include "rewrite/analysis/loop_choice.h"
#include "rewrite/analysis/refusal_place.h"
#include "rewrite/forms/kernel_state.h"
#include "source/walk.h"

#include <algorithm>

namespace regraph::rewrite {

Status require_all_reach(const RowPlan& plan, const Kernel& kernel, const Analysis& analysis) {
  const std::vector<StmtPtr> reached = loops_all_reach(kernel.body, analysis);
  for (const auto& [loop, shared] : plan) {
    const bool is_reached =
        std::any_of(reached.begin(), reached.end(),
                    [wanted = loop](const StmtPtr& stmt) { return stmt.get() == wanted; });
    if (!is_reached) return refuse("not all threads of a block reach the loop");
    if (shared.scan && !is_uniform(to<ForLoop>(*loop), analysis)) {
      return refuse(loop_named(*loop) + "threads of a block have different numbers of iterations");
    }
  }
  return {};
}

std::int64_t slot_bytes(const RowPlan& plan, int threads) {
  std::int64_t bytes = 0;
  for (const auto& [loop, shared] : plan) {
    std::size_t slot = 0;
    for (const Reduction& reduction : shared.reductions)
      slot += size_in_bytes(reduction.scalar);
    for (const Selection& selection : shared.selections) {
      // And the iteration, where they need it to choose.
      slot += sizeof(std::uint32_t);
      for (const CarriedScalar& carried : selection.carried())
        slot += size_in_bytes(carried.scalar);
    }
    // Scans use two sets of slots in turn.
    bytes += static_cast<std::int64_t>(slot) * threads * (shared.scan ? 2 : 1);
  }
  return bytes;
}

std::optional<std::int64_t> largest_at_bench_sizes(const Polynomial& value,
                                                   const Problem& problem) {
  std::optional<std::int64_t> largest;
  for (const Symbols& sizes : problem.bench) {
    Polynomial concrete = value;
    for (const auto& [name, size] : sizes)
      concrete = concrete.substitute(name, Polynomial(size));
    const auto constant = concrete.constant();
    if (!constant) return std::nullopt;
    largest = std::max(largest.value_or(*constant), *constant);
  }
  return largest;
}

bool has_scan(const RowPlan& plan) {
  return std::any_of(plan.begin(), plan.end(),
                     [](const auto& entry) { return entry.second.scan.has_value(); });
}

}  // namespace regraph::rewrite
