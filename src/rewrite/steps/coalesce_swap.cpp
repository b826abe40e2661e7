// coalesce_swap: exchanges the roles of the x and y thread axes in the whole kernel and its launch,
// so that consecutive threadIdx.x touch consecutive addresses.
//
// A pure renaming of the thread space: legal whenever nothing depends on which threads share a
// warp. Applied twice it undoes itself, so it is refused where it would not make accesses better
// aligned with threadIdx.x.
#include "rewrite/analysis/thread_axes.h"
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/exchange_axes.h"

#include <memory>

namespace regraph::rewrite {
namespace {

// The place is the launch afterwards.
class CoalesceSwap final : public PlacedStep<Launch> {
 public:
  std::string_view id() const override { return "coalesce_swap"; }
  int position() const override { return 10; }
  std::vector<StepParameters> settings() const override { return {{}}; }

 protected:
  Result<Launch> find(const KernelAnalysis& kernel, const StepParameters&) const override {
    auto swapped = launch_with_axes_exchanged(kernel);
    if (!swapped) return swapped.error();
    const Dim3& block = (*kernel.launch())->block;
    if (misalignment(kernel.kernel(), kernel.analysis(), "y", block) >=
        misalignment(kernel.kernel(), kernel.analysis(), "x", block)) {
      return refuse("global accesses would not be closer together after exchanging x and y");
    }
    if (Status status = require_possible(*swapped, kernel, "the exchanged launch is not valid: ");
        !status) {
      return status.error();
    }
    return swapped;
  }

  KernelState rewrite(const KernelAnalysis& kernel, const Launch& swapped) const override {
    KernelState result = kernel.state();
    result.unit.kernel.body = with_axes_exchanged(kernel.kernel().body);
    const Dim3 original = result.plan.launches.front().block;
    result.plan.launches.front() = swapped;
    return with_longer_x(std::move(result), original, kernel);
  }

 private:
  // A block that was longer in x is now longer in y, and warps span several rows again. Where the
  // kernel allows any block, the original extents serve better.
  static KernelState with_longer_x(KernelState state, const Dim3& original,
                                   const KernelAnalysis& kernel) {
    if (original.x <= original.y) return state;
    const std::string extents = std::to_string(original.x) + "x" + std::to_string(original.y) +
                                (original.z > 1 ? "x" + std::to_string(original.z) : "");
    const KernelAnalysis swapped(state, kernel.problem(), kernel.limits());
    auto reshaped = find_built_in_step("block_size")->apply(swapped, {{"block", extents}});
    return reshaped ? std::move(*reshaped) : std::move(state);
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_coalesce_swap() {
  return std::make_unique<CoalesceSwap>();
}

}  // namespace regraph::rewrite
