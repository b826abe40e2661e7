// coalesce_swap: exchanges the roles of the x and y thread axes in the whole kernel and its launch, so
// that consecutive threadIdx.x touch consecutive addresses.
//
// A pure renaming of the thread space: legal whenever nothing depends on which threads share a warp.
#include <algorithm>

#include "rewrite/legality.h"
#include "rewrite/steps.h"
#include "source/build.h"
#include "source/walk.h"

namespace regraph::rewrite {
namespace {

class CoalesceSwap final : public StepRewriter {
 public:
  std::string_view id() const override { return "coalesce_swap"; }
  std::vector<StepParameters> choices() const override { return {{}}; }

  Result<KernelState> apply(const KernelState& state, const StepParameters&,
                            const Problem& problem) const override {
    const source::Analysis analysis(state.unit.kernel);
    if (Status status = require_transparent(state, analysis); !status) return status.error();
    auto launch = only_launch(state);
    if (!launch) return launch.error();
    if (analysis.uses_warp_intrinsics()) {
      return refuse("warp intrinsics tie the result to which threads share a warp");
    }
    for (const char* axis : kAxes) {
      const bool used = analysis.uses_builtin(std::string("threadIdx.") + axis) ||
                        analysis.uses_builtin(std::string("blockIdx.") + axis);
      if (!used && std::string_view(axis) != "z") {
        return refuse(std::string("the kernel does not use the ") + axis + " axis");
      }
    }
    KernelState result = state;
    result.unit.kernel.body = source::rewrite_expressions(
        state.unit.kernel.body, [](const source::ExprPtr& expr) -> std::optional<source::ExprPtr> {
          if (expr->kind != source::ExprKind::builtin) return std::nullopt;
          if (expr->text.ends_with(".x")) return exchanged(*expr, "y");
          if (expr->text.ends_with(".y")) return exchanged(*expr, "x");
          return std::nullopt;
        });
    Launch& swapped = result.plan.launches.front();
    std::swap(swapped.block.x, swapped.block.y);
    std::swap(swapped.grid[0], swapped.grid[1]);
    for (IntegerExpression& extent_expression : swapped.grid) {
      extent_expression = extent_expression.substitute(
          {{"bx", IntegerExpression::symbol("by")}, {"by", IntegerExpression::symbol("bx")}});
    }
    for (const Symbols& sizes : problem.bench) {
      if (auto concrete = concretise(swapped, sizes); !concrete) {
        return refuse("the exchanged launch is not valid: " + concrete.error().message);
      }
    }
    return result;
  }

 private:
  static source::ExprPtr exchanged(const source::Expr& expr, const char* axis) {
    return source::builtin(expr.text.substr(0, expr.text.size() - 1) + axis);
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_coalesce_swap() { return std::make_unique<CoalesceSwap>(); }

}  // namespace regraph::rewrite
