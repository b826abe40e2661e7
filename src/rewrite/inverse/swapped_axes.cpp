// swapped_axes: exchanges the axes x and y of the thread space, so that neighbouring threads no
// longer touch neighbouring addresses. As legal as coalesce_swap, which is offered for the result
// exactly where it made accesses worse.
#include "rewrite/analysis/thread_axes.h"
#include "rewrite/inverse/inverse_rewrite.h"
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/exchange_axes.h"

namespace regraph::rewrite {

Result<KernelState> with_swapped_axes(const KernelAnalysis& kernel) {
  auto launch = launch_with_axes_exchanged(kernel);
  if (!launch) return launch.error();
  if (Status status = require_possible(*launch, kernel, "the exchanged launch is not valid: ");
      !status) {
    return status.error();
  }
  KernelState result = kernel.state();
  result.unit.kernel.body = with_axes_exchanged(kernel.kernel().body);
  result.plan.launches.front() = std::move(*launch);
  return result;
}

}  // namespace regraph::rewrite
