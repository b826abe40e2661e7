// grid_stride: fewer blocks, each of which does the work of several, one after the other.
//
//   work of block blockIdx.x
// becomes
//   for (block = blockIdx.x; block < blocks of the original; block += gridDim.x) work of block
//
// Legal because blocks are independent: nothing may ask for the grid's extent, the original number
// of blocks must be expressible, and nobody may leave the kernel for good in the middle. A barrier
// separates the rounds where shared memory is used.
#include "rewrite/analysis/legality.h"
#include "rewrite/analysis/names.h"
#include "rewrite/analysis/size_expression.h"
#include "rewrite/steps/steps.h"
#include "rewrite/transform/normal_form.h"
#include "source/build.h"
#include "source/walk.h"

namespace regraph::rewrite {
namespace {

using source::Analysis;
using source::Block;
using source::Expr;
using source::ExprKind;
using source::ExprPtr;
using source::Kernel;
using source::Stmt;
using source::StmtKind;
using source::StmtPtr;

class GridStride final : public StepRewriter {
 public:
  std::string_view id() const override { return "grid_stride"; }
  std::vector<StepParameters> choices() const override {
    return {{{"rounds", "4"}}, {{"rounds", "16"}}, {{"rounds", "64"}}};
  }

  Result<KernelState> apply(const KernelState& state, const StepParameters& parameters,
                            const Problem& problem) const override {
    auto rounds = integer_parameter(parameters, "rounds");
    if (!rounds) return rounds.error();
    if (*rounds < 2) return fail(ErrorCode::invalid_argument, "'rounds' must be at least 2");
    auto launch = only_launch(state);
    if (!launch) return launch.error();
    Kernel kernel = state.unit.kernel;
    const Analysis analysis(kernel);
    if (Status status = require_transparent(state, analysis); !status) return status.error();
    if (!analysis.uses_builtin("blockIdx.x")) return refuse("the kernel does not use blockIdx.x");
    if (analysis.uses_builtin("gridDim.x")) {
      return refuse("the kernel uses gridDim.x, which would change");
    }
    const Launch& before = **launch;
    for (const Symbols& sizes : problem.bench) {
      auto concrete = concretise(before, sizes);
      if (!concrete) return concrete.error();
      if (static_cast<int>(concrete->grid.x) < kLeastBlocksLeft * *rounds) {
        return refuse("a grid of " + std::to_string(concrete->grid.x) +
                      " blocks is too small for " + std::to_string(*rounds) + " rounds");
      }
    }
    const IntegerExpression grid =
        before.grid[0].substitute({{"bx", IntegerExpression(before.block.x)},
                                   {"by", IntegerExpression(before.block.y)},
                                   {"bz", IntegerExpression(before.block.z)}});
    const ExprPtr blocks = size_in_kernel(grid, kernel, false);
    if (!blocks) {
      return refuse("the grid " + grid.text() + " is not made of the kernel's parameters");
    }
    auto body = without_early_returns(kernel.body);
    if (!body) return body.error();
    KernelState result = state;
    result.unit.kernel.body = looped(kernel, *body, blocks, analysis.has_shared());
    result.plan.launches.front().grid[0] =
        IntegerExpression::ceil_divide(before.grid[0], IntegerExpression(*rounds));
    return result;
  }

 private:
  // With fewer blocks than this the GPU runs empty.
  static constexpr int kLeastBlocksLeft = 128;

  static Block looped(const Kernel& kernel, const Block& body, const ExprPtr& blocks,
                      bool has_shared) {
    const std::string block = source::fresh_name(kernel, "block");
    Block result;
    Block round;
    for (const StmtPtr& stmt : body) {
      // Shared arrays outlive a round in any case.
      const bool is_shared =
          stmt->kind == StmtKind::declare && stmt->variable.storage != source::Storage::automatic;
      (is_shared ? result : round).push_back(stmt);
    }
    round = source::rewrite_expressions(round, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
      if (expr->kind != ExprKind::builtin || expr->text != "blockIdx.x") return std::nullopt;
      return source::variable(block, ScalarType::u32);
    });
    if (has_shared) round.push_back(source::barrier());
    auto loop = std::make_shared<Stmt>();
    loop->kind = StmtKind::loop;
    source::Variable counter;
    counter.name = block;
    counter.type = "unsigned int";
    counter.scalar = ScalarType::u32;
    loop->init = source::declare(counter, source::builtin("blockIdx.x"));
    loop->value = source::binary("<", source::variable(block, ScalarType::u32), blocks);
    loop->step = source::assign(source::variable(block), "+=", source::builtin("gridDim.x"));
    loop->body = std::move(round);
    result.push_back(loop);
    return result;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_grid_stride() {
  return std::make_unique<GridStride>();
}

}  // namespace regraph::rewrite
