// Several steps as one: what pays only together is offered together.
#pragma once

#include "rewrite/forms/ir.h"
#include "rewrite/steps/step_rewriter.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

// A step of a sequence, with other settings to fall back to where the first one is refused.
struct MacroMember {
  std::string step;
  std::vector<StepParameters> settings = {{}};
  bool optional = false;  // left out where it is refused in every setting
  // A later member moves shared arrays to dynamic memory, or refuses: static ones may be as large
  // until then.
  bool before_dynamic = false;
};

// Applies the members one after another. Error: refused, with the member and its reason.
[[nodiscard]] Result<KernelState> apply_members(const KernelAnalysis& kernel,
                                                const std::vector<MacroMember>& members);

// Adds delinearize along x, where the kernel's index is flat. Where it is not, `needed`, a member
// that comes later, is asked at once: what it refuses of `plain`, the kernel as the members find
// it, no member mends. Returns whether delinearize was added. Error: refused, with the member and
// its reason.
[[nodiscard]] Result<bool> begin_with_flat_index(const KernelAnalysis& kernel,
                                                 const KernelAnalysis& plain,
                                                 const MacroMember& needed,
                                                 std::vector<MacroMember>& members);

// Whether the kernel's launch has the block already, which block_size refuses: "32x8".
[[nodiscard]] bool is_block(const KernelAnalysis& kernel, const std::string& block);

// A kernel without what somebody laid out by hand, with what the steps ask about it.
struct OpenedKernel {
  OpenedKernel(MacroMember by, KernelState opened, const KernelAnalysis& original)
      : member(std::move(by)),
        state(std::move(opened)),
        analysis(state, original.problem(), original.limits()) {}
  const MacroMember member;  // that it was opened by
  const KernelState state;
  const KernelAnalysis analysis;
};

// By the step `untile`, for steps that tiles in shared memory would be in the way of; null where
// the kernel uses no shared memory. Error: refused, with the step and its reason.
[[nodiscard]] Result<std::shared_ptr<const OpenedKernel>> untiled(const KernelAnalysis& kernel);
// The same, and where there is no shared memory by `untile` where threads have tiles in registers,
// or by `reshape_block`, where these apply.
[[nodiscard]] Result<std::shared_ptr<const OpenedKernel>> opened(const KernelAnalysis& kernel);

// The kernel where its block has one axis; else what `linearize` makes of it, worked out once.
// Error: refused, where there are threads enough for a row each, or with the step and its reason.
[[nodiscard]] Result<const KernelAnalysis*> on_one_axis(const KernelAnalysis& kernel);

// A step made of others: whether the last member applies is not known before the first ones did.
class MacroStep : public TriedStep {
 public:
  [[nodiscard]] Result<KernelState> apply(const KernelAnalysis& kernel,
                                          const StepParameters& parameters) const final {
    const auto members = sequence(kernel, parameters);
    if (!members) return members.error();
    return apply_members(kernel, *members);
  }

 protected:
  // The members for the parameters. Errors: invalid_argument; refused where it can be seen at once
  // that the sequence does not apply.
  [[nodiscard]] virtual Result<std::vector<MacroMember>> sequence(
      const KernelAnalysis& kernel, const StepParameters& parameters) const = 0;
};

}  // namespace regraph::rewrite
