// slice_scan: a loop that one thread runs for an output of its own, and that uses what it has
// accumulated so far, is dealt out to threads along y, while neighbours along x keep outputs of
// their own.
//
//   for (t = 0; t < n; ++t) { m = max(m, x[t * w + column]); out[t * w + column] = m; }
//
// becomes rounds in which every slice has some neighbouring iterations, for scans whose elements
// are contiguous across threads (slice_reduction is the same for loops whose totals alone are
// used). Legal under the conditions of cross_thread_scan, in a form in which all threads of a block
// reach the loop and have as many rounds.
#include "rewrite/analysis/row_sharing.h"
#include "rewrite/analysis/thread_rows.h"
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/share_rows.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace regraph::rewrite {
namespace {

// Outputs a block: one warp's, so that what it reads and writes of a step is contiguous.
constexpr int kScanColumns = 32;

struct SliceScanPlace {
  RowTeam team;
  RowPlan plan;
  Launch launch;  // afterwards
};

class SliceScan final : public PlacedStep<SliceScanPlace> {
 public:
  std::string_view id() const override { return "slice_scan"; }

  std::vector<StepParameters> settings() const override {
    std::vector<StepParameters> result;
    for (const char* items : {"4", "8"}) {
      for (const char* slices : {"8", "16", "32"})
        result.push_back({{"slices", slices}, {"items", items}});
    }
    return result;
  }

 protected:
  Result<SliceScanPlace> find(const KernelAnalysis& kernel,
                              const StepParameters& parameters) const override {
    auto team = team_of(parameters);
    if (!team) return team.error();
    const Launch& launch = **kernel.launch();
    if (Status status = require_thread_a_row(kernel, launch); !status) return status.error();
    // Slices lie along y, where the block has one thread so far.
    for (const char* builtin : {"threadIdx.y", "blockDim.y"}) {
      if (kernel.analysis().uses_builtin(builtin))
        return refuse(std::string("the kernel uses ") + builtin + ", along which slices would lie");
    }
    auto form = kernel.direct_normal();
    if (!form) return form.error();
    auto plan = plan_rows((*form)->kernel, (*form)->analysis, team->threads, true, kernel.problem(),
                          RunningValues::allowed);
    if (!plan) return plan.error();
    if (!has_scan(*plan)) return refuse("no loop uses what it has accumulated so far");
    if (Status status = require_all_reach(*plan, (*form)->kernel, (*form)->analysis); !status)
      return status.error();
    for (const auto& [loop, shared] : *plan) {
      if (Status status = permit_reordering(shared.reductions, kernel.problem()); !status)
        return status.error();
    }
    if (Status status = require_shared_bytes(slot_bytes(*plan, team->threads * kScanColumns),
                                             kernel, "the slices need");
        !status) {
      return status.error();
    }
    auto dealt = launch_for_rows(**form, launch, kScanColumns,
                                 {kScanColumns, static_cast<std::uint32_t>(team->threads), 1});
    if (!dealt) return dealt.error();
    if (Status status = require_possible(*dealt, kernel); !status) return status.error();
    return SliceScanPlace{*team, std::move(*plan), std::move(*dealt)};
  }

  KernelState rewrite(const KernelAnalysis& kernel, const SliceScanPlace& place) const override {
    const Kernel& form = (*kernel.direct_normal())->kernel;
    KernelState result = kernel.state();
    for (const auto& [loop, shared] : place.plan) {
      if (any_rounds(shared.reductions)) rely_on(result, kReordersSums);
    }
    rely_on(result, kNeedsDistinctBuffers);
    result.unit.kernel = form;
    result.unit.kernel.body = share_rows(form, place.plan, std::nullopt, place.team);
    relaunch(result, place.launch);
    return result;
  }

 private:
  static Result<RowTeam> team_of(const StepParameters& parameters) {
    auto slices = integer_parameter(parameters, "slices", 2);
    if (!slices) return slices.error();
    auto items = integer_parameter(parameters, "items");
    if (!items) return items.error();
    if (*items < 1 || *items > 16)
      return fail(ErrorCode::invalid_argument, "'items' must be between 1 and 16");
    return RowTeam{*slices, kScanColumns, true, *items};
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_slice_scan() {
  return std::make_unique<SliceScan>();
}

}  // namespace regraph::rewrite
