// no_tile: shared arrays that hold a copy of global memory go, and what was read from them
// is read where it came from (transform/staged_copies.h). Legal where that is.
#include "rewrite/inverse/inverse_rewrite.h"
#include "rewrite/transform/staged_copies.h"

#include <utility>

namespace regraph::rewrite {

Result<KernelState> without_tiles(const KernelAnalysis& kernel) {
  if (const Status& status = kernel.transparent(); !status) return status.error();
  auto launch = kernel.launch();
  if (!launch) return launch.error();
  KernelState result = kernel.state();
  auto slower = without_staged_copies(result.unit.kernel, (*launch)->block);
  if (!slower) return slower.error();
  result.unit.kernel = std::move(*slower);
  return result;
}

}  // namespace regraph::rewrite
