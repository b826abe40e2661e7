// launch_bounds: tells ptxas the block's size and how many blocks should fit an SM, which caps the
// registers. No semantic change; legal when that many blocks can be resident at all.
#include "rewrite/analysis/legality.h"
#include "rewrite/steps/steps.h"

namespace regraph::rewrite {
namespace {

// Resident threads an SM holds at most: 2048 on sm_80, sm_90 and sm_100 (CUDA programming guide,
// technical specifications per compute capability).
constexpr std::uint64_t kThreadsPerSm = 2048;

class LaunchBounds final : public StepRewriter {
 public:
  std::string_view id() const override { return "launch_bounds"; }
  std::vector<StepParameters> choices() const override {
    return {
        {{"min_blocks", "1"}}, {{"min_blocks", "2"}}, {{"min_blocks", "3"}}, {{"min_blocks", "4"}}};
  }

  Result<KernelState> apply(const KernelState& state, const StepParameters& parameters,
                            const Problem&) const override {
    auto min_blocks = integer_parameter(parameters, "min_blocks");
    if (!min_blocks) return min_blocks.error();
    auto launch = only_launch(state);
    if (!launch) return launch.error();
    const std::uint64_t threads = (*launch)->block.count();
    if (*min_blocks < 1 || threads * static_cast<std::uint64_t>(*min_blocks) > kThreadsPerSm) {
      return refuse(std::to_string(*min_blocks) + " blocks of " + std::to_string(threads) +
                    " threads exceed the " + std::to_string(kThreadsPerSm) + " threads of an SM");
    }
    const source::Kernel& kernel = state.unit.kernel;
    if (kernel.launch_bounds_threads) {
      return refuse("the kernel has launch bounds already");
    }
    KernelState result = state;
    result.unit.kernel.launch_bounds_threads = static_cast<int>(threads);
    result.unit.kernel.launch_bounds_min_blocks = *min_blocks;
    return result;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_launch_bounds() {
  return std::make_unique<LaunchBounds>();
}

}  // namespace regraph::rewrite
