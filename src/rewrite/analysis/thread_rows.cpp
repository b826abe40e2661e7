#include "rewrite/analysis/thread_rows.h"

#include "affine/global_index.h"
#include "rewrite/analysis/grid_guard.h"
#include "rewrite/analysis/requirements.h"

namespace regraph::rewrite {

Status require_thread_a_row(const KernelAnalysis& kernel, const Launch& launch) {
  const Requirements needed = {.distinct_buffers = "", .lone_threads = true, .known_calls = true};
  if (Status status = require(needed, kernel); !status) return status;
  const Analysis& analysis = kernel.analysis();
  if (launch.block.y != 1 || launch.block.z != 1) {
    return refuse("the block has more than one axis; threads of a row are found along x only");
  }
  if (!analysis.uses_builtin("threadIdx.x") || !analysis.uses_builtin("blockIdx.x")) {
    return refuse("the kernel does not give each thread of the grid a row of its own");
  }
  return require_global_index(kernel.kernel(), analysis, "x");
}

Result<IntegerExpression> grid_for_rows(const KernelForm& form, const Launch& launch, int rows) {
  const IntegerExpression& grid = launch.grid[0];
  if (launch.block.x % static_cast<std::uint32_t>(rows) != 0) {
    return refuse("the block of " + std::to_string(launch.block.x) +
                  " threads is no multiple of the rows of a block");
  }
  // Rows past the end are not worth blocks where the guard drops them anyway.
  if (grid.symbols().contains("bx") && grid_is_guarded(form.kernel, form.analysis, launch, 0)) {
    return grid.substitute({{"bx", IntegerExpression(rows)}});
  }
  const std::int64_t blocks = launch.block.x / static_cast<std::uint32_t>(rows);
  return IntegerExpression::multiply(grid.substitute({{"bx", IntegerExpression(launch.block.x)}}),
                                     IntegerExpression(blocks));
}

Result<Launch> launch_for_rows(const KernelForm& form, const Launch& launch, int rows,
                               const Dim3& block) {
  auto grid = grid_for_rows(form, launch, rows);
  if (!grid) return grid.error();
  Launch result = launch;
  result.block = block;
  result.grid[0] = *grid;
  return result;
}

Status require_row_team(int threads_per_row, int rows_per_block, bool share_warps) {
  constexpr int kWarp = 32;
  constexpr int kFewest = 4;
  const bool is_power = threads_per_row > 0 && (threads_per_row & (threads_per_row - 1)) == 0;
  if (share_warps && is_power && threads_per_row >= kFewest && threads_per_row < kWarp &&
      rows_per_block >= 1 && threads_per_row * rows_per_block % kWarp == 0) {
    return {};
  }
  if (threads_per_row >= kWarp && is_power && rows_per_block >= 1 &&
      (rows_per_block == 1 || threads_per_row == kWarp)) {
    return {};
  }
  return fail(
      ErrorCode::invalid_argument,
      std::string("'threads_per_row' must be a power of two, at least ") +
          (share_warps ? "4, where it is below 32 with as many 'rows_per_block' as fill warps"
                       : "32") +
          ", and 'rows_per_block' 1 where it is above");
}

}  // namespace regraph::rewrite
