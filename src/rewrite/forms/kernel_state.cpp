#include "rewrite/forms/kernel_state.h"

#include <algorithm>

namespace regraph::rewrite {

void rely_on(KernelState& state, const std::string& assumption) {
  const auto found =
      std::lower_bound(state.assumptions.begin(), state.assumptions.end(), assumption);
  if (found == state.assumptions.end() || *found != assumption)
    state.assumptions.insert(found, assumption);
}

}  // namespace regraph::rewrite
