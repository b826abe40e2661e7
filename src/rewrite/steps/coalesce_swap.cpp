// coalesce_swap: exchanges the roles of the x and y thread axes in the whole kernel and its launch,
// so that consecutive threadIdx.x touch consecutive addresses.
//
// A pure renaming of the thread space: legal whenever nothing depends on which threads share a
// warp. Applied twice it undoes itself, so it is refused where it would not make accesses better
// aligned with threadIdx.x.
#include "rewrite/analysis/block_geometry.h"
#include "rewrite/analysis/guarded_access.h"
#include "rewrite/steps/step_rewriter.h"
#include "source/build.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <algorithm>
#include <memory>

namespace regraph::rewrite {
namespace {

// How far global accesses are from coalesced along `axis`: loads whose address moves by anything
// but 0 or 1 element count twice, stores (which do not wait) once.
int misalignment(const source::Kernel& kernel, const source::Analysis& analysis,
                 const std::string& axis, const Dim3& block) {
  int count = 0;
  for_each_guarded_access(kernel.body, [&](const GuardedAccess& access) {
    const auto* base = source::base_variable(*access.access);
    if (base == nullptr || !analysis.is_global_pointer(base->name)) return;
    const auto index = analysis.polynomial(access.access->index);
    if (!index) return;
    const auto stride = with_block_extents(*index, block).coefficient("threadIdx." + axis);
    const auto constant = stride ? stride->constant() : std::nullopt;
    if (!constant || *constant < 0 || *constant > 1) count += access.is_store ? 1 : 2;
  });
  return count;
}

// Builtins along x become those along y, and the other way round.
class AxisExchanger final : public source::Mutator {
  using Mutator::mutate;

  source::ExprPtr mutate(const source::ExprPtr& expr, const source::Builtin& builtin) override {
    const std::string object = builtin.name.substr(0, builtin.name.size() - 1);
    if (builtin.name.ends_with(".x")) return source::builtin(object + "y");
    return builtin.name.ends_with(".y") ? source::builtin(object + "x") : expr;
  }
};

Launch exchanged(Launch launch) {
  std::swap(launch.block.x, launch.block.y);
  std::swap(launch.grid[0], launch.grid[1]);
  for (IntegerExpression& extent_expression : launch.grid) {
    extent_expression = extent_expression.substitute(
        {{"bx", IntegerExpression::symbol("by")}, {"by", IntegerExpression::symbol("bx")}});
  }
  return launch;
}

// The place is the launch afterwards.
class CoalesceSwap final : public PlacedStep<Launch> {
 public:
  std::string_view id() const override { return "coalesce_swap"; }
  int position() const override { return 10; }
  std::vector<StepParameters> settings() const override { return {{}}; }

 protected:
  Result<Launch> find(const KernelAnalysis& kernel, const StepParameters&) const override {
    if (const Status& status = kernel.transparent(); !status) return status.error();
    auto launch = kernel.launch();
    if (!launch) return launch.error();
    const source::Analysis& analysis = kernel.analysis();
    if (analysis.uses_warp_intrinsics()) {
      return refuse("warp intrinsics tie the result to which threads share a warp");
    }
    for (const char* axis : {"x", "y"}) {
      const bool used = analysis.uses_builtin(std::string("threadIdx.") + axis) ||
                        analysis.uses_builtin(std::string("blockIdx.") + axis);
      if (!used) return refuse(std::string("the kernel does not use the ") + axis + " axis");
    }
    const Dim3& block = (*launch)->block;
    if (misalignment(kernel.kernel(), analysis, "y", block) >=
        misalignment(kernel.kernel(), analysis, "x", block)) {
      return refuse("global accesses would not be closer together after exchanging x and y");
    }
    const Launch swapped = exchanged(**launch);
    if (Status status = require_possible(swapped, kernel, "the exchanged launch is not valid: ");
        !status) {
      return status.error();
    }
    return swapped;
  }

  KernelState rewrite(const KernelAnalysis& kernel, const Launch& swapped) const override {
    KernelState result = kernel.state();
    result.unit.kernel.body = AxisExchanger().run(kernel.kernel().body);
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
