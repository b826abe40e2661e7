// coalesce_swap: exchanges the roles of the x and y thread axes in the whole kernel and its launch,
// so that consecutive threadIdx.x touch consecutive addresses.
//
// A pure renaming of the thread space: legal whenever nothing depends on which threads share a
// warp. Applied twice it undoes itself, so it is refused where it would not make accesses better
// aligned with threadIdx.x.
#include "rewrite/analysis/guarded_access.h"
#include "rewrite/analysis/legality.h"
#include "rewrite/steps/steps.h"
#include "source/build.h"
#include "source/walk.h"

#include <algorithm>

namespace regraph::rewrite {
namespace {

// How far global accesses are from coalesced along `axis`: loads whose address moves by anything
// but 0 or 1 element count twice, stores (which do not wait) once.
int misalignment(const source::Kernel& kernel, const source::Analysis& analysis,
                 const std::string& axis, const Dim3& block) {
  int count = 0;
  for_each_guarded_access(kernel.body, [&](const GuardedAccess& access) {
    const source::Expr* base = source::base_variable(*access.access);
    if (base == nullptr || !analysis.is_global_pointer(base->text)) return;
    const auto index = analysis.polynomial(access.access->operands[1]);
    if (!index) return;
    const auto stride = with_block_extents(*index, block).coefficient("threadIdx." + axis);
    const auto constant = stride ? stride->constant() : std::nullopt;
    if (!constant || *constant < 0 || *constant > 1) count += access.is_store ? 1 : 2;
  });
  return count;
}

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
    const Dim3& block = (*launch)->block;
    if (misalignment(state.unit.kernel, analysis, "y", block) >=
        misalignment(state.unit.kernel, analysis, "x", block)) {
      return refuse("global accesses would not be closer together after exchanging x and y");
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
    return with_longer_x(std::move(result), block, problem);
  }

 private:
  // A block that was longer in x is now longer in y, and warps span several rows again. Where the
  // kernel allows any block, the original extents serve better.
  static KernelState with_longer_x(KernelState state, const Dim3& original,
                                   const Problem& problem) {
    if (original.x <= original.y) return state;
    const std::string extents = std::to_string(original.x) + "x" + std::to_string(original.y) +
                                (original.z > 1 ? "x" + std::to_string(original.z) : "");
    auto reshaped = make_block_size()->apply(state, {{"block", extents}}, problem);
    return reshaped ? std::move(*reshaped) : std::move(state);
  }

  static source::ExprPtr exchanged(const source::Expr& expr, const char* axis) {
    return source::builtin(expr.text.substr(0, expr.text.size() - 1) + axis);
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_coalesce_swap() {
  return std::make_unique<CoalesceSwap>();
}

}  // namespace regraph::rewrite
