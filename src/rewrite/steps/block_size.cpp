// block_size: changes the block's extents; the grid follows because it is written in bx, by, bz.
//
// Legal when a thread's identity enters the kernel only as its global index
//   blockIdx.a * blockDim.a * C + (coarsening offset) * blockDim.a + threadIdx.a,
// where blockDim.a may be said as a number, so that every index is still taken by exactly one
// thread; or when the threads of a block share out loops among themselves,
//   for (i = threadIdx.x; i < n; i += blockDim.x)
// and nothing else of them follows the block. Shared arrays, indices within the block and outputs
// per block all encode the block's size and are refused.
#include "affine/block_geometry.h"
#include "affine/global_index.h"
#include "rewrite/analysis/block_row.h"
#include "rewrite/analysis/block_stride_loop.h"
#include "rewrite/forms/block_extents.h"
#include "rewrite/steps/step_rewriter.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <utility>

namespace regraph::rewrite {
namespace {

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

class BlockSize final : public PlacedStep<Dim3> {
 public:
  std::string_view id() const override { return "block_size"; }
  int position() const override { return 20; }

  std::vector<StepParameters> settings() const override {
    std::vector<StepParameters> result;
    for (const char* block : {"64", "128", "256", "512", "1024", "16x16", "32x4", "32x8", "32x16",
                              "32x32", "64x4", "64x8", "128x2"}) {
      result.push_back({{"block", block}});
    }
    return result;
  }

 protected:
  Result<Dim3> find(const KernelAnalysis& kernel, const StepParameters& parameters) const override {
    auto wanted = text_parameter(parameters, "block");
    if (!wanted) return wanted.error();
    auto block = parse_block(*wanted);
    if (!block) return block.error();
    const Launch& launch = **kernel.launch();
    if (launch.block == *block) return refuse("the block is " + *wanted + " already");
    const Analysis& analysis = kernel.analysis();
    if (analysis.has_shared()) return refuse("shared arrays encode the block's size");
    if (analysis.uses_warp_intrinsics()) return refuse("warp intrinsics encode the block's shape");
    if (!deals_loops_out(kernel, launch, *block)) {
      if (Status status = require_axes(analysis, launch, *block); !status) return status.error();
      if (Status status = require_global_indices(kernel, launch, *block); !status)
        return status.error();
    }
    Launch changed = launch;
    changed.block = *block;
    if (Status status = require_possible(changed, kernel); !status) return status.error();
    return block;
  }

  KernelState rewrite(const KernelAnalysis& kernel, const Dim3& block) const override {
    KernelState result = kernel.state();
    // The old extents may stand in the code as numbers.
    const Dim3& before = result.plan.launches.front().block;
    const Kernel opened = result.unit.opened_kernel();
    Block named = with_named_block_extents(opened.body, before);
    if (named != opened.body) result.unit.kernel.body = std::move(named);
    Launch launch = result.plan.launches.front();
    launch.block = block;
    relaunch(result, launch);
    return result;
  }

 private:
  static bool deals_loops_out(const KernelAnalysis& kernel, const Launch& launch,
                              const Dim3& block) {
    const bool is_row = block.y == 1 && block.z == 1 && launch.block.y == 1 && launch.block.z == 1;
    return is_row && !launch.grid[0].symbols().contains("bx") &&
           only_block_strides(kernel.kernel().body, kernel.analysis(),
                              BlockRow(kernel.analysis(), launch.block));
  }

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
        std::string reason = "the grid's ";
        reason.append(letter).append(" extent is not written in b").append(letter);
        return refuse(reason + ", so it would not follow the block");
      }
    }
    return {};
  }

  static Status require_global_indices(const KernelAnalysis& kernel, const Launch& launch,
                                       const Dim3& block) {
    for (int axis = 0; axis < 3; ++axis) {
      if (extent(block, axis) == extent(launch.block, axis)) continue;
      const std::string letter = kAxes[static_cast<std::size_t>(axis)];
      if (Status status = require_global_index(kernel.kernel(), kernel.analysis(), letter); !status)
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
