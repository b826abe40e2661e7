// grid_stride: fewer blocks, each of which does the work of several, one after the other.
//
//   work of block blockIdx.x
// becomes
//   for (block = blockIdx.x; block < blocks of the original; block += gridDim.x) work of block
//
// Legal because blocks are independent: nothing may ask for the grid's extent, the original number
// of blocks must be expressible, and nobody may leave the kernel for good in the middle. A barrier
// separates the rounds where shared memory is used.
#include "affine/block_geometry.h"
#include "affine/size_expression.h"
#include "rewrite/forms/names.h"
#include "rewrite/forms/normal_form.h"
#include "rewrite/steps/step_rewriter.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <memory>

namespace regraph::rewrite {
namespace {

struct GridPlace {
  int rounds = 0;
  ExprPtr blocks;  // of the original grid
};

class GridStride final : public PlacedStep<GridPlace> {
 public:
  std::string_view id() const override { return "grid_stride"; }
  int position() const override { return 140; }
  std::vector<StepParameters> settings() const override {
    return {{{"rounds", "4"}}, {{"rounds", "16"}}, {{"rounds", "64"}}};
  }

 protected:
  Result<GridPlace> find(const KernelAnalysis& kernel,
                         const StepParameters& parameters) const override {
    auto rounds = integer_parameter(parameters, "rounds", 2);
    if (!rounds) return rounds.error();
    const Launch& launch = **kernel.launch();
    if (!kernel.analysis().uses_builtin("blockIdx.x"))
      return refuse("the kernel does not use blockIdx.x");
    if (kernel.analysis().uses_builtin("gridDim.x"))
      return refuse("the kernel uses gridDim.x, which would change");
    if (Status status = require_blocks(kernel, launch, *rounds); !status) return status.error();
    const IntegerExpression grid = with_block_extents(launch.grid[0], launch.block);
    GridPlace place{*rounds, size_in_kernel(grid, kernel.kernel(), kernel.analysis(), false)};
    if (!place.blocks) {
      return refuse("the grid " + grid.text() + " is not made of the kernel's parameters");
    }
    if (const auto& body = kernel.body_without_returns(); !body) return body.error();
    return place;
  }

  KernelState rewrite(const KernelAnalysis& kernel, const GridPlace& place) const override {
    KernelState result = kernel.state();
    result.unit.kernel.body = looped(kernel, place.blocks);
    IntegerExpression& grid = result.plan.launches.front().grid[0];
    grid = IntegerExpression::ceil_divide(grid, IntegerExpression(place.rounds));
    return result;
  }

 private:
  // With fewer blocks than this the GPU runs empty.
  static constexpr int kLeastBlocksLeft = 128;

  static Status require_blocks(const KernelAnalysis& kernel, const Launch& launch, int rounds) {
    for (const Symbols& sizes : kernel.problem().bench) {
      auto concrete = concretise(launch, sizes);
      if (!concrete) return concrete.error();
      if (static_cast<int>(concrete->grid.x) < kLeastBlocksLeft * rounds) {
        return refuse("a grid of " + std::to_string(concrete->grid.x) +
                      " blocks is too small for " + std::to_string(rounds) + " rounds");
      }
    }
    return {};
  }

  static Block looped(const KernelAnalysis& kernel, const ExprPtr& blocks) {
    const std::string block = fresh_name(kernel.kernel(), "block");
    Block result;
    Block round;
    for (const StmtPtr& stmt : *kernel.body_without_returns()) {
      // Shared arrays outlive a round in any case.
      const auto* declaration = as<Declaration>(stmt);
      const bool is_shared =
          declaration != nullptr && declaration->variable.storage != Storage::automatic;
      (is_shared ? result : round).push_back(stmt);
    }
    round = rewrite_expressions(round, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
      if (!is_builtin(*expr, "blockIdx.x")) return std::nullopt;
      return variable(block, ScalarType::u32);
    });
    if (kernel.analysis().has_shared()) round.push_back(barrier());
    const ExprPtr number = variable(block, ScalarType::u32);
    result.push_back(loop(
        declare(local_variable(block, "unsigned int", ScalarType::u32), builtin("blockIdx.x")),
        less(number, blocks),
        assign(variable(block), AssignmentOperator::add, builtin("gridDim.x")), std::move(round)));
    return result;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_grid_stride() {
  return std::make_unique<GridStride>();
}

}  // namespace regraph::rewrite
