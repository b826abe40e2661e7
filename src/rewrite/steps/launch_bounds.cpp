// launch_bounds: tells ptxas the block's size and how many blocks should fit a multiprocessor,
// which caps the registers. No semantic change; legal when that many blocks can be resident at all.
#include "rewrite/steps/step_rewriter.h"

#include <memory>

namespace regraph::rewrite {
namespace {

// The place is the least number of resident blocks.
class LaunchBounds final : public PlacedStep<int> {
 public:
  std::string_view id() const override { return "launch_bounds"; }
  int position() const override { return 90; }
  std::vector<StepParameters> settings() const override {
    return {
        {{"min_blocks", "1"}}, {{"min_blocks", "2"}}, {{"min_blocks", "3"}}, {{"min_blocks", "4"}}};
  }

 protected:
  Requirements requirements() const override { return {.transparent = false}; }
  Result<int> find(const KernelAnalysis& kernel, const StepParameters& parameters) const override {
    auto min_blocks = integer_parameter(parameters, "min_blocks");
    if (!min_blocks) return min_blocks.error();
    const std::uint64_t threads = (*kernel.launch())->block.count();
    const auto most = static_cast<std::uint64_t>(kernel.limits().max_threads_per_multiprocessor);
    if (*min_blocks < 1 || threads * static_cast<std::uint64_t>(*min_blocks) > most) {
      return refuse(std::to_string(*min_blocks) + " blocks of " + std::to_string(threads) +
                    " threads exceed the " + std::to_string(most) + " threads of an SM");
    }
    if (*min_blocks > kernel.limits().max_blocks_per_multiprocessor) {
      return refuse("an SM holds no more than " +
                    std::to_string(kernel.limits().max_blocks_per_multiprocessor) + " blocks");
    }
    if (kernel.kernel().launch_bounds_threads) {
      return refuse("the kernel has launch bounds already");
    }
    return min_blocks;
  }

  KernelState rewrite(const KernelAnalysis& kernel, const int& min_blocks) const override {
    KernelState result = kernel.state();
    const std::uint64_t threads = result.plan.launches.front().block.count();
    result.unit.kernel.launch_bounds_threads = static_cast<int>(threads);
    result.unit.kernel.launch_bounds_min_blocks = min_blocks;
    return result;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_launch_bounds() {
  return std::make_unique<LaunchBounds>();
}

}  // namespace regraph::rewrite
