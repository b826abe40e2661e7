#include "rewrite/forms/kernel_state.h"

#include <algorithm>

namespace regraph::rewrite {

void relaunch(KernelState& state, const Launch& launch) {
  state.plan.launches.front() = launch;
  auto& threads = state.unit.kernel.launch_bounds_threads;
  if (threads) threads = static_cast<int>(launch.block.count());
}

void rely_on(KernelState& state, const std::string& assumption) {
  const auto found =
      std::lower_bound(state.assumptions.begin(), state.assumptions.end(), assumption);
  if (found == state.assumptions.end() || *found != assumption)
    state.assumptions.insert(found, assumption);
}

void rely_on_alignment(KernelState& state, int bytes) {
  rely_on(state, "buffers are aligned to " + std::to_string(bytes) + " bytes");
}

}  // namespace regraph::rewrite
