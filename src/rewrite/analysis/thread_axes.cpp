#include "rewrite/analysis/thread_axes.h"

#include "affine/block_geometry.h"
#include "affine/guarded_access.h"
#include "source/walk.h"

#include <utility>

namespace regraph::rewrite {

int misalignment(const Kernel& kernel, const Analysis& analysis, const std::string& axis,
                 const Dim3& block) {
  int count = 0;
  for_each_guarded_access(kernel.body, [&](const GuardedAccess& access) {
    const auto* base = base_variable(*access.access);
    if (base == nullptr || !analysis.is_global_pointer(base->name)) return;
    const auto index = analysis.polynomial(access.access->index);
    if (!index) return;
    const auto stride = with_block_extents(*index, block).coefficient("threadIdx." + axis);
    const auto constant = stride ? stride->constant() : std::nullopt;
    if (!constant || *constant < 0 || *constant > 1) count += access.is_store ? 1 : 2;
  });
  return count;
}

Result<Launch> launch_with_axes_exchanged(const KernelAnalysis& kernel) {
  if (const Status& status = kernel.transparent(); !status) return status.error();
  auto launch = kernel.launch();
  if (!launch) return launch.error();
  const Analysis& analysis = kernel.analysis();
  if (analysis.uses_warp_intrinsics()) {
    return refuse("warp intrinsics tie the result to which threads share a warp");
  }
  for (const char* axis : {"x", "y"}) {
    const bool used = analysis.uses_builtin(std::string("threadIdx.") + axis) ||
                      analysis.uses_builtin(std::string("blockIdx.") + axis);
    if (!used) return refuse(std::string("the kernel does not use the ") + axis + " axis");
  }
  Launch exchanged = **launch;
  std::swap(exchanged.block.x, exchanged.block.y);
  std::swap(exchanged.grid[0], exchanged.grid[1]);
  for (IntegerExpression& extent_expression : exchanged.grid) {
    extent_expression = extent_expression.substitute(
        {{"bx", IntegerExpression::symbol("by")}, {"by", IntegerExpression::symbol("bx")}});
  }
  return exchanged;
}

}  // namespace regraph::rewrite
