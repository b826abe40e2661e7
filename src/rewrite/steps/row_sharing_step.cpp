#include "rewrite/steps/row_sharing_step.h"

#include "rewrite/analysis/thread_rows.h"
#include "rewrite/transform/warp_shuffle.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace regraph::rewrite {

namespace {

// Rows a block, where its threads are neighbours along y: one warp's, so that what it accesses of
// an iteration is contiguous.
constexpr int kRowsAcross = 32;

Result<const KernelForm*> form_of(const KernelAnalysis& kernel, const RowTeam& team) {
  return team.across ? kernel.direct_normal() : kernel.single_exit();
}

// Slices lie along y, where the block has one thread so far.
Status require_free_axis(const Analysis& analysis) {
  for (const char* builtin : {"threadIdx.y", "blockDim.y"}) {
    if (analysis.uses_builtin(builtin))
      return refuse(std::string("the kernel uses ") + builtin + ", along which slices would lie");
  }
  return {};
}

Result<RowPlan> planned(const KernelForm& form, const RowSharing& sharing, const Problem& problem) {
  const RowTeam& team = sharing.team;
  auto plan =
      plan_rows(form.kernel, form.analysis, team.threads, team.across || team.threads > kWarpLanes,
                problem, sharing.has_scans ? RunningValues::allowed : RunningValues::refused);
  if (!plan) return plan;
  if (sharing.has_scans && !has_scan(*plan))
    return refuse(std::string("no loop ") + (team.across ? "" : "over a row ") +
                  "uses what it has accumulated so far");
  if (team.across) {
    if (Status status = require_all_reach(*plan, form.kernel, form.analysis); !status)
      return status.error();
  }
  for (const auto& [loop, shared] : *plan) {
    if (Status status = permit_reordering(shared.reductions, problem); !status)
      return status.error();
  }
  return plan;
}

// Rows that share a warp are short ones, of which each thread adds up something.
Status require_short_rows(const RowPlan& plan, const KernelForm& form, const RowSharing& sharing,
                          const Problem& problem) {
  // From here on a row fills the vectors of a warp.
  const std::int64_t most = std::int64_t{2} * kWarpLanes * sharing.width;
  for (const auto& [stmt, shared] : plan) {
    if (shared.scan || !shared.selections.empty())
      return refuse(
          "a loop over the row chooses, or uses what it has accumulated so far: that is "
          "done by whole warps");
    const auto length = form.analysis.polynomial(shared.counted.limit);
    const auto longest = length ? largest_at_bench_sizes(*length, problem) : std::nullopt;
    if (longest && *longest > most)
      return refuse("a row has " + std::to_string(*longest) + " elements, enough for a whole warp");
  }
  return {};
}

Result<std::optional<RowVectors>> vectors_of(const KernelForm& form, const RowPlan& plan,
                                             const RowSharing& sharing, const Problem& problem) {
  const RowTeam& team = sharing.team;
  std::optional<RowVectors> none;
  if (sharing.width > 1) {
    auto vectors =
        plan_row_vectors(form.kernel, form.analysis, plan, team.threads, sharing.width, problem);
    if (!vectors) return vectors.error();
    return std::optional(std::move(*vectors));
  }
  // Other loops than scans take the row's elements in another order.
  const bool is_alone = std::all_of(
      plan.begin(), plan.end(), [](const auto& entry) { return entry.second.scan.has_value(); });
  if (team.across || team.items == 1 || !is_alone) return none;
  auto vectors =
      plan_row_vectors(form.kernel, form.analysis, plan, team.threads, team.items, problem);
  if (!vectors) return none;
  // Rounds hand over what they have: none keeps its elements.
  vectors->keep_nothing();
  return std::optional(std::move(*vectors));
}

}  // namespace

Status RowSharingStep::choose_kernel(const KernelAnalysis& kernel, SharedRows& rows) const {
  rows.kernel = &kernel;
  return {};
}

Result<SharedRows> RowSharingStep::find(const KernelAnalysis& kernel,
                                        const StepParameters& parameters) const {
  const auto sharing = sharing_of(parameters);
  if (!sharing) return sharing.error();
  SharedRows rows;
  rows.team = sharing->team;
  if (Status status = choose_kernel(kernel, rows); !status) return status.error();
  auto launch = rows.kernel->launch();
  if (!launch) return launch.error();
  if (Status status = require_thread_a_row(*rows.kernel, **launch); !status) return status.error();
  if (rows.team.across) {
    if (Status status = require_free_axis(rows.kernel->analysis()); !status) return status.error();
  }
  auto form = form_of(*rows.kernel, rows.team);
  if (!form) return form.error();
  auto plan = planned(**form, *sharing, kernel.problem());
  if (!plan) return plan.error();
  rows.plan = std::move(*plan);
  if (!rows.team.across && rows.team.threads < kWarpLanes) {
    if (Status status = require_short_rows(rows.plan, **form, *sharing, kernel.problem()); !status)
      return status.error();
  }
  const auto width = static_cast<std::uint32_t>(rows.team.threads);
  const auto count = static_cast<std::uint32_t>(rows.team.rows);
  if (rows.team.across) {
    const std::int64_t bytes = slot_bytes(rows.plan, rows.team.threads * rows.team.rows);
    if (Status status = require_shared_bytes(bytes, kernel, "the slices need"); !status)
      return status.error();
  }
  auto launched =
      launch_for_rows(**form, **launch, rows.team.rows,
                      rows.team.across ? Dim3{count, width, 1} : Dim3{width * count, 1, 1});
  if (!launched) return launched.error();
  rows.launch = std::move(*launched);
  auto vectors = vectors_of(**form, rows.plan, *sharing, kernel.problem());
  if (!vectors) return vectors.error();
  rows.vectors = std::move(*vectors);
  if (Status status = require_possible(rows.launch, kernel, "the launch would not be valid: ");
      !status) {
    return status.error();
  }
  return rows;
}

KernelState RowSharingStep::rewrite(const KernelAnalysis& kernel, const SharedRows& rows) const {
  const Kernel& form = (*form_of(*rows.kernel, rows.team))->kernel;
  KernelState result = rows.kernel->state();
  for (const auto& [loop, shared] : rows.plan) {
    if (any_rounds(shared.reductions)) rely_on(result, kReordersSums);
  }
  rely_on(result, kNeedsDistinctBuffers);
  if (rows.vectors) rely_on_alignment(result, kernel.problem().assume.align);
  result.unit.kernel = form;
  result.unit.kernel.body = share_rows(form, rows.plan, rows.vectors, rows.team);
  relaunch(result, rows.launch);
  rows.kernel->note_reliance(result);
  return result;
}

Result<RowTeam> RowSharingStep::team_along(const StepParameters& parameters, bool share_warps) {
  auto threads = integer_parameter(parameters, "threads_per_row");
  if (!threads) return threads.error();
  auto rows = integer_parameter(parameters, "rows_per_block");
  if (!rows) return rows.error();
  if (Status status = require_row_team(*threads, *rows, share_warps); !status)
    return status.error();
  return RowTeam{*threads, *rows};
}

Result<RowTeam> RowSharingStep::team_across(const StepParameters& parameters) {
  auto slices = integer_parameter(parameters, "slices");
  if (!slices) return slices.error();
  if (*slices < 2) return fail(ErrorCode::invalid_argument, "'slices' must be at least 2");
  return RowTeam{*slices, kRowsAcross, true};
}

}  // namespace regraph::rewrite
