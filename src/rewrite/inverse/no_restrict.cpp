// no_restrict: takes __restrict__ from all pointers. Always legal: it is a promise and nothing
// else. `const` stays, since without __restrict__ it promises the compiler nothing, and so
// restrict_ldg leads back to the same text.
#include "rewrite/inverse/inverse_rewrite.h"

namespace regraph::rewrite {
namespace {

class NoRestrict final : public InverseRewrite {
 public:
  std::string id() const override { return "no_restrict"; }
  std::string_view undone_by() const override { return "restrict_ldg"; }
  std::string taken_away() const override { return "__restrict__ on pointers"; }

  Result<KernelState> apply(const KernelAnalysis& kernel) const override {
    KernelState result = kernel.state();
    bool changed = false;
    for (KernelParameter& parameter : result.unit.kernel.parameters) {
      changed = changed || parameter.is_restrict;
      parameter.is_restrict = false;
    }
    if (!changed) return refuse("no pointer is __restrict__");
    return result;
  }
};

}  // namespace

std::unique_ptr<InverseRewrite> make_no_restrict() {
  return std::make_unique<NoRestrict>();
}

}  // namespace regraph::rewrite
