// block_size: changes the block's extents; the grid follows because it is written in bx, by, bz.
//
// Legal when a thread's identity enters the kernel only as its global index
//   blockIdx.a * blockDim.a * C + (coarsening offset) * blockDim.a + threadIdx.a,
// so that every index is still taken by exactly one thread. Shared arrays, indices within the block
// and outputs per block all encode the block's size and are refused.
#include "rewrite/analysis/global_index.h"
#include "rewrite/analysis/legality.h"
#include "rewrite/steps/steps.h"

#include <algorithm>
#include <charconv>

namespace regraph::rewrite {
namespace {

using source::Analysis;
using source::Polynomial;

Result<Dim3> parse_block(const std::string& text) {
  Dim3 block;
  const char* cursor = text.data();
  const char* end = text.data() + text.size();
  for (int axis = 0; axis < 3; ++axis) {
    std::uint32_t value = 0;
    const auto [next, error] = std::from_chars(cursor, end, value);
    if (error != std::errc() || value == 0) break;
    set_extent(block, axis, value);
    cursor = next;
    if (cursor == end) return block;
    if (*cursor != 'x') break;
    ++cursor;
  }
  return fail(ErrorCode::invalid_argument, "block '" + text + "' is not of the form 256 or 32x8");
}

class BlockSize final : public StepRewriter {
 public:
  std::string_view id() const override { return "block_size"; }

  std::vector<StepParameters> choices() const override {
    std::vector<StepParameters> result;
    for (const char* block : {"64", "128", "256", "512", "1024", "16x16", "32x4", "32x8", "32x16",
                              "32x32", "64x4", "64x8", "128x2"}) {
      result.push_back({{"block", block}});
    }
    return result;
  }

  Result<KernelState> apply(const KernelState& state, const StepParameters& parameters,
                            const Problem& problem) const override {
    const auto wanted = parameters.find("block");
    if (wanted == parameters.end())
      return fail(ErrorCode::invalid_argument, "the step needs 'block'");
    auto block = parse_block(wanted->second);
    if (!block) return block.error();
    const Analysis analysis(state.unit.kernel);
    if (Status status = require_transparent(state, analysis); !status) return status.error();
    auto launch = only_launch(state);
    if (!launch) return launch.error();
    if ((*launch)->block == *block) return refuse("the block is " + wanted->second + " already");
    if (analysis.has_shared()) return refuse("shared arrays encode the block's size");
    if (analysis.uses_warp_intrinsics()) return refuse("warp intrinsics encode the block's shape");
    if (Status status = require_axes(analysis, **launch, *block); !status) return status.error();
    if (Status status = require_global_indices(state, analysis, **launch, *block); !status) {
      return status.error();
    }
    KernelState result = state;
    Launch& changed = result.plan.launches.front();
    changed.block = *block;
    if (result.unit.kernel.launch_bounds_threads) {
      result.unit.kernel.launch_bounds_threads = static_cast<int>(block->count());
    }
    for (const Symbols& sizes : problem.bench) {
      if (auto concrete = concretise(changed, sizes); !concrete) {
        return refuse("the launch would not be valid: " + concrete.error().message);
      }
    }
    return result;
  }

 private:
  static Status require_axes(const Analysis& analysis, const Launch& launch, const Dim3& block) {
    for (int axis = 0; axis < 3; ++axis) {
      const std::string letter = kAxes[static_cast<std::size_t>(axis)];
      const bool used = analysis.uses_builtin("threadIdx." + letter);
      if (!used && extent(block, axis) > 1) {
        return refuse("the kernel does not use threadIdx." + letter);
      }
      const bool follows =
          launch.grid[static_cast<std::size_t>(axis)].symbols().contains("b" + letter);
      if (extent(block, axis) != extent(launch.block, axis) && !follows) {
        return refuse("the grid's " + letter + " extent is not written in b" + letter +
                      ", so it would not follow the block");
      }
    }
    return {};
  }

  static Status require_global_indices(const KernelState& state, const Analysis& analysis,
                                       const Launch& launch, const Dim3& block) {
    for (int axis = 0; axis < 3; ++axis) {
      if (extent(block, axis) == extent(launch.block, axis)) continue;
      const std::string letter = kAxes[static_cast<std::size_t>(axis)];
      if (Status status = require_global_index(state.unit.kernel, analysis, letter); !status)
        return status;
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_block_size() {
  return std::make_unique<BlockSize>();
}

}  // namespace regraph::rewrite
