// restrict_ldg: const on pointers that are only read and __restrict__ on all, so that loads may go
// through the read-only path and be moved over stores. Legal when the problem grants that buffers
// do not overlap; nothing may be written through a pointer that becomes const.
#include "rewrite/analysis/legality.h"
#include "rewrite/steps/steps.h"
#include "source/walk.h"

namespace regraph::rewrite {
namespace {

class RestrictLdg final : public StepRewriter {
 public:
  std::string_view id() const override { return "restrict_ldg"; }
  std::vector<StepParameters> choices() const override { return {{}}; }

  Result<KernelState> apply(const KernelState& state, const StepParameters&,
                            const Problem& problem) const override {
    if (!problem.assume.noalias) {
      return refuse("the problem does not grant 'assume: {noalias: true}'");
    }
    const source::Analysis analysis(state.unit.kernel);
    if (const auto opaque = analysis.opaque()) {
      return refuse("what is written cannot be told, " + *opaque);
    }
    // A local pointer made from a parameter could write through it under another name.
    bool aliased = false;
    source::walk(state.unit.kernel.body, [&](const source::Stmt& stmt) {
      aliased = aliased || (stmt.kind == source::StmtKind::declare && stmt.variable.is_pointer &&
                            !stmt.variable.type.starts_with("const "));
    });
    KernelState result = state;
    bool changed = false;
    for (source::KernelParameter& parameter : result.unit.kernel.parameters) {
      if (!parameter.is_pointer) continue;
      if (!parameter.is_restrict) {
        parameter.is_restrict = true;
        changed = true;
      }
      if (!parameter.points_to_const && !aliased && !analysis.is_written(parameter.name)) {
        parameter.points_to_const = true;
        changed = true;
      }
    }
    if (!changed) return refuse("every pointer is __restrict__ already");
    rely_on(result, kNeedsDistinctBuffers);
    return result;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_restrict_ldg() {
  return std::make_unique<RestrictLdg>();
}

}  // namespace regraph::rewrite
