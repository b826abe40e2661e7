// cross_thread_scan: a loop that one thread runs over a row, and that uses what it has accumulated
// so far, is dealt out to the threads of a warp or a block.
//
//   for (c = 0; c < n; ++c) { sum += x[row * n + c]; out[row * n + c] = sum; }
//
// becomes rounds of neighbouring elements, some a thread: each adds up its own, lanes and warps
// tell each other what comes before, and then the loop's body is done as it stands (scan_code.h).
// The kernel's other loops over the row are dealt out as by cross_thread_reduction.
//
// Legal under the conditions of that step; what is accumulated may be used in the loop, but what is
// added to it must not follow from it (scan_loop.h). Several elements a thread are moved as vectors
// where the row's length and place allow it, which is asked when the kernel runs.
#include "rewrite/analysis/row_sharing.h"
#include "rewrite/analysis/row_vectors.h"
#include "rewrite/analysis/thread_rows.h"
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/share_rows.h"
#include "rewrite/transform/warp_shuffle.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace regraph::rewrite {
namespace {

struct ScanPlace {
  RowTeam team;
  RowPlan plan;
  std::optional<RowVectors> vectors;
  Launch launch;  // afterwards
};

class CrossThreadScan final : public PlacedStep<ScanPlace> {
 public:
  std::string_view id() const override { return "cross_thread_scan"; }

  std::vector<StepParameters> settings() const override {
    std::vector<StepParameters> result;
    for (const char* items : {"4", "1"}) {
      for (const char* rows : {"4", "8"})
        result.push_back({{"threads_per_row", "32"}, {"rows_per_block", rows}, {"items", items}});
      for (const char* threads : {"128", "256"})
        result.push_back({{"threads_per_row", threads}, {"rows_per_block", "1"}, {"items", items}});
    }
    return result;
  }

 protected:
  Result<ScanPlace> find(const KernelAnalysis& kernel,
                         const StepParameters& parameters) const override {
    auto team = team_of(parameters);
    if (!team) return team.error();
    const Launch& launch = **kernel.launch();
    if (Status status = require_thread_a_row(kernel, launch); !status) return status.error();
    auto form = kernel.single_exit();
    if (!form) return form.error();
    auto plan = plan_rows((*form)->kernel, (*form)->analysis, team->threads,
                          team->threads > kWarpLanes, kernel.problem(), RunningValues::allowed);
    if (!plan) return plan.error();
    if (!has_scan(*plan)) return refuse("no loop over a row uses what it has accumulated so far");
    for (const auto& [loop, shared] : *plan) {
      if (Status status = permit_reordering(shared.reductions, kernel.problem()); !status)
        return status.error();
    }
    auto dealt = launch_for_rows(**form, launch, team->rows,
                                 {static_cast<std::uint32_t>(team->threads * team->rows), 1, 1});
    if (!dealt) return dealt.error();
    if (Status status = require_possible(*dealt, kernel); !status) return status.error();
    std::optional<RowVectors> vectors = vectors_of(**form, *plan, *team, kernel.problem());
    return ScanPlace{*team, std::move(*plan), std::move(vectors), std::move(*dealt)};
  }

  KernelState rewrite(const KernelAnalysis& kernel, const ScanPlace& place) const override {
    KernelState result = kernel.state();
    for (const auto& [loop, shared] : place.plan) {
      if (any_rounds(shared.reductions)) rely_on(result, kReordersSums);
    }
    rely_on(result, kNeedsDistinctBuffers);
    if (place.vectors) rely_on_alignment(result, kernel.problem().assume.align);
    result.unit.kernel.body =
        share_rows((*kernel.single_exit())->kernel, place.plan, place.vectors, place.team);
    relaunch(result, place.launch);
    return result;
  }

 private:
  static Result<RowTeam> team_of(const StepParameters& parameters) {
    auto threads = integer_parameter(parameters, "threads_per_row");
    if (!threads) return threads.error();
    auto rows = integer_parameter(parameters, "rows_per_block");
    if (!rows) return rows.error();
    auto items = integer_parameter(parameters, "items");
    if (!items) return items.error();
    if (Status status = require_whole_warps(*threads, *rows); !status) return status.error();
    if (*items != 1 && *items != 2 && *items != 4 && *items != 8)
      return fail(ErrorCode::invalid_argument, "'items' must be 1, 2, 4 or 8");
    return RowTeam{*threads, *rows, false, *items};
  }

  // Vectors of a thread's items, where they can be had: other loops than scans take the row's
  // elements in another order.
  static std::optional<RowVectors> vectors_of(const KernelForm& form, const RowPlan& plan,
                                              const RowTeam& team, const Problem& problem) {
    const bool is_alone = std::all_of(
        plan.begin(), plan.end(), [](const auto& entry) { return entry.second.scan.has_value(); });
    if (team.items == 1 || !is_alone) return std::nullopt;
    auto vectors =
        plan_row_vectors(form.kernel, form.analysis, plan, team.threads, team.items, problem);
    if (!vectors) return std::nullopt;
    // Rounds hand over what they have: none keeps its elements.
    vectors->vectors = 0;
    return std::move(*vectors);
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_cross_thread_scan() {
  return std::make_unique<CrossThreadScan>();
}

}  // namespace regraph::rewrite
