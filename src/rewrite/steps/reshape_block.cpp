// reshape_block: threads and blocks get axes of their own, and the grid follows the block.
//
//   row = blockIdx.x * 32 + threadIdx.x / 32;  column = blockIdx.y * 32 + threadIdx.x % 32;
//   blocks of 1024 in a grid of cdiv(m, 32) x cdiv(n, 32)
// becomes
//   row = blockIdx.y * blockDim.y + threadIdx.y;  column = blockIdx.x * blockDim.x + threadIdx.x;
//   blocks of 32x32 in a grid of cdiv(n, bx) x cdiv(m, by)
//
// That is no faster by itself, and what steps begin with that choose a block or have a thread do
// the work of several. Legal because a thread keeps its number in the block
// (transform/flat_block.h), blocks may be numbered in any way (grid_axes.h), and threads beyond the
// old grid are stopped (grid_by_block.h).
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/flat_block.h"
#include "rewrite/transform/global_indices.h"
#include "rewrite/transform/grid_axes.h"
#include "rewrite/transform/grid_by_block.h"

#include <memory>
#include <utility>

namespace regraph::rewrite {
namespace {

class ReshapeBlock final : public TriedStep {
 public:
  std::string_view id() const override { return "reshape_block"; }
  std::vector<StepParameters> settings() const override { return {{}}; }

  // With grid=follow also where nothing but the grid changes, which is of no use alone: contraction
  // asks for it.
  Result<KernelState> apply(const KernelAnalysis& kernel,
                            const StepParameters& parameters) const override {
    if (Status status = require({.fixed_block = true}, kernel); !status) return status.error();
    const Launch& launch = **kernel.launch();
    auto form = kernel.single_exit();
    if (!form) return form.error();
    Kernel changed = (*form)->kernel;
    Launch shaped = launch;
    const auto rows = with_block_of_rows(changed, shaped);
    if (rows) {
      changed.body = rows->body;
      shaped = rows->launch;
    }
    auto exchanged = with_grid_exchanged(changed, shaped);
    const bool is_exchanged = exchanged.has_value();
    if (is_exchanged) {
      changed.body = std::move(exchanged->body);
      shaped = std::move(exchanged->launch);
    }
    const Analysis& analysis = kernel.analysis();
    if (!analysis.has_shared() && !analysis.has_barrier() && !analysis.uses_warp_intrinsics()) {
      changed.body = with_global_indices(changed, shaped.block);
      GridByBlock follows = with_grid_by_block(changed, shaped);
      changed.body = std::move(follows.body);
      shaped = std::move(follows.launch);
    }
    const bool follows = parameters.contains("grid") && shaped.grid != launch.grid;
    if (!rows && !is_exchanged && !follows) return rows.error();
    if (Status status = require_possible(shaped, kernel); !status) return status.error();
    KernelState result = kernel.state();
    result.unit.kernel = std::move(changed);
    result.plan.launches.front() = std::move(shaped);
    return result;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_reshape_block() {
  return std::make_unique<ReshapeBlock>();
}

}  // namespace regraph::rewrite
