// restrict_ldg: const on pointers that are only read and __restrict__ on all, so that loads may go
// through the read-only path and be moved over stores. Legal when the problem grants that buffers
// do not overlap; nothing may be written through a pointer that becomes const.
#include "rewrite/steps/step_rewriter.h"
#include "source/walk.h"

#include <memory>

namespace regraph::rewrite {
namespace {

// A local pointer made from a parameter could write through it under another name.
bool has_local_alias(const Kernel& kernel) {
  return any_statement(kernel.body, [&](const Stmt& stmt) {
    const auto* declaration = as<Declaration>(stmt);
    return declaration != nullptr && declaration->variable.is_pointer &&
           !declaration->variable.type.starts_with("const ");
  });
}

// The place holds the kernel's parameters afterwards.
class RestrictLdg final : public PlacedStep<std::vector<KernelParameter>> {
 public:
  std::string_view id() const override { return "restrict_ldg"; }
  int position() const override { return 80; }
  std::vector<StepParameters> settings() const override { return {{}}; }

 protected:
  Requirements requirements() const override {
    return {.one_launch = false, .transparent = false, .distinct_buffers = ""};
  }
  Result<std::vector<KernelParameter>> find(const KernelAnalysis& kernel,
                                            const StepParameters&) const override {
    if (const auto opaque = kernel.analysis().opaque()) {
      return refuse("what is written cannot be told, " + *opaque);
    }
    const bool aliased = has_local_alias(kernel.kernel());
    bool changed = false;
    std::vector<KernelParameter> parameters = kernel.kernel().parameters;
    for (KernelParameter& parameter : parameters) {
      if (!parameter.is_pointer) continue;
      const bool becomes_const =
          !parameter.points_to_const && !aliased && !kernel.analysis().is_written(parameter.name);
      changed = changed || !parameter.is_restrict || becomes_const;
      parameter.is_restrict = true;
      parameter.points_to_const = parameter.points_to_const || becomes_const;
    }
    if (!changed) return refuse("every pointer is __restrict__ already");
    return parameters;
  }

  KernelState rewrite(const KernelAnalysis& kernel,
                      const std::vector<KernelParameter>& parameters) const override {
    KernelState result = kernel.state();
    result.unit.kernel.parameters = parameters;
    rely_on(result, kNeedsDistinctBuffers);
    return result;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_restrict_ldg() {
  return std::make_unique<RestrictLdg>();
}

}  // namespace regraph::rewrite
