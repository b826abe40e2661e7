// no_restrict: takes __restrict__ from all pointers. Always legal: it is a promise and nothing
// else. `const` stays, since without __restrict__ it promises the compiler nothing, and so
// restrict_ldg leads back to the same text.
#include "rewrite/inverse/inverse_rewrite.h"

namespace regraph::rewrite {

Result<KernelState> without_restrict(const KernelAnalysis& kernel) {
  KernelState result = kernel.state();
  bool changed = false;
  for (KernelParameter& parameter : result.unit.kernel.parameters) {
    changed = changed || parameter.is_restrict;
    parameter.is_restrict = false;
  }
  if (!changed) return refuse("no pointer is __restrict__");
  return result;
}

}  // namespace regraph::rewrite
