#include "rewrite/analysis/requirements.h"

#include "affine/refusal.h"

#include <string>

namespace regraph::rewrite {

Status require(const Requirements& needed, const KernelAnalysis& kernel) {
  const auto launch = kernel.launch();
  if (needed.one_launch && !launch) return launch.error();
  if (needed.distinct_buffers && !kernel.problem().assume.noalias) {
    std::string reason = "the problem does not grant 'assume: {noalias: true}'";
    if (!needed.distinct_buffers->empty()) reason.append(", so ").append(*needed.distinct_buffers);
    return refuse(reason);
  }
  if (needed.transparent && !kernel.transparent()) return kernel.transparent();
  const Analysis& analysis = kernel.analysis();
  if (needed.shared == SharedMemory::none && analysis.has_shared())
    return refuse("the kernel uses shared memory already");
  if (needed.shared == SharedMemory::some && !analysis.has_shared())
    return refuse("the kernel has no shared tiles");
  if (needed.lone_threads &&
      (analysis.has_shared() || analysis.has_barrier() || analysis.uses_warp_intrinsics())) {
    return refuse("the threads of a block work together already");
  }
  if (needed.known_calls && !analysis.unknown_calls().empty()) {
    return refuse("the kernel calls '" + *analysis.unknown_calls().begin() +
                  "', which may read or write memory");
  }
  if (needed.fixed_block && launch && (*launch)->block_follows_sizes())
    return refuse("the block's extents follow the sizes, and would be fixed");
  return {};
}

}  // namespace regraph::rewrite
