// slice_reduction: the loop that one thread runs for an output is dealt out to threads along y, and
// neighbours along x keep outputs of their own.
//
//   column = blockIdx.x * blockDim.x + threadIdx.x;  for (r = 0; r < n; ++r) sum += A[r * w + column];
// becomes, with S slices,
//   for (r = threadIdx.y; r < n; r += S) sum += ...;  sum = total of sum over the S threads
//
// For reductions whose operand is contiguous across outputs, where lanes on the loop would read
// scattered (cross_thread_reduction), and outputs are few. Operands that are staged in shared
// memory by hand are read where they came from first (untile). Legal under the same conditions, in
// a form in which all threads reach the barrier between adding up and using the total.
#include "rewrite/analysis/row_sharing.h"
#include "rewrite/analysis/thread_rows.h"
#include "rewrite/steps/macro_step.h"
#include "rewrite/transform/share_rows.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace regraph::rewrite {
namespace {

// Outputs a block: one warp's, so that what it reads of the operand is contiguous.
constexpr int kColumns = 32;

struct SlicePlace {
  std::shared_ptr<const OpenedKernel> untiled;  // what the plan is about; null: the kernel itself
  int slices = 0;
  RowPlan plan;
  Launch launch;  // afterwards
};

class SliceReduction final : public PlacedStep<SlicePlace> {
 public:
  std::string_view id() const override { return "slice_reduction"; }
  std::vector<StepParameters> settings() const override {
    return {{{"slices", "4"}}, {{"slices", "8"}}, {{"slices", "16"}}, {{"slices", "32"}}};
  }

 protected:
  Result<SlicePlace> find(const KernelAnalysis& kernel,
                          const StepParameters& parameters) const override {
    const auto plain = untiled(kernel);
    const bool is_untiled = plain && *plain != nullptr;
    auto place = find_in(is_untiled ? (*plain)->analysis : kernel, parameters);
    if (place && is_untiled) place->untiled = *plain;
    return place;
  }

  KernelState rewrite(const KernelAnalysis& kernel, const SlicePlace& place) const override {
    return rewrite_in(place.untiled != nullptr ? place.untiled->analysis : kernel, place);
  }

 private:
  static Result<SlicePlace> find_in(const KernelAnalysis& kernel,
                                    const StepParameters& parameters) {
    auto slices = integer_parameter(parameters, "slices", 2);
    if (!slices) return slices.error();
    SlicePlace place;
    place.slices = *slices;
    auto launch = kernel.launch();
    if (!launch) return launch.error();
    if (Status status = require_thread_a_row(kernel, **launch); !status) return status.error();
    // Slices lie along y, where the block has one thread so far.
    for (const char* builtin : {"threadIdx.y", "blockDim.y"}) {
      if (kernel.analysis().uses_builtin(builtin))
        return refuse(std::string("the kernel uses ") + builtin + ", along which slices would lie");
    }
    auto form = kernel.direct_normal();
    if (!form) return form.error();
    auto plan = plan_rows((*form)->kernel, (*form)->analysis, place.slices, true, kernel.problem());
    if (!plan) return plan.error();
    if (Status status = require_all_reach(*plan, (*form)->kernel, (*form)->analysis); !status)
      return status.error();
    for (const auto& [loop, shared] : *plan) {
      if (Status status = permit_reordering(shared.reductions, kernel.problem()); !status)
        return status.error();
    }
    const std::int64_t bytes = slot_bytes(*plan, place.slices * kColumns);
    if (Status status = require_shared_bytes(bytes, kernel, "the slices need"); !status)
      return status.error();
    auto dealt = launch_for_rows(**form, **launch, kColumns,
                                 {kColumns, static_cast<std::uint32_t>(place.slices), 1});
    if (!dealt) return dealt.error();
    place.plan = std::move(*plan);
    place.launch = std::move(*dealt);
    if (Status status = require_possible(place.launch, kernel); !status) return status.error();
    return place;
  }

  static KernelState rewrite_in(const KernelAnalysis& kernel, const SlicePlace& place) {
    const Kernel& form = (*kernel.direct_normal())->kernel;
    KernelState result = kernel.state();
    for (const auto& [loop, shared] : place.plan) {
      if (any_rounds(shared.reductions)) rely_on(result, kReordersSums);
    }
    rely_on(result, kNeedsDistinctBuffers);
    result.unit.kernel = form;
    result.unit.kernel.body =
        share_rows(form, place.plan, std::nullopt, {place.slices, kColumns, true});
    relaunch(result, place.launch);
    return result;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_slice_reduction() {
  return std::make_unique<SliceReduction>();
}

}  // namespace regraph::rewrite
