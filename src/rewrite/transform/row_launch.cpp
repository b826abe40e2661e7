#include "rewrite/transform/row_launch.h"

#include "rewrite/analysis/block_row.h"
#include "rewrite/analysis/grid_guard.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <string>
#include <utility>

namespace regraph::rewrite {

namespace {

// Rows a block, where it may be any number.
constexpr std::uint32_t kRaisedBlock = 64;

}  // namespace

KernelState with_thread_a_row(const KernelAnalysis& kernel, const KernelForm& form,
                              const Block& body) {
  KernelState result = kernel.state();
  const Launch launch = **kernel.launch();
  const std::int64_t threads = launch.block.x;
  const std::string name = fresh_name(form.kernel, "row");
  const ExprPtr row = variable(name, ScalarType::u32);
  Block rows = rewrite_expressions(body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
    if (is_builtin(*expr, "blockIdx.x")) return row;
    if (is_builtin(*expr, "blockDim.x")) return integer(threads);
    return std::nullopt;
  });
  Variable index = local_variable(name, std::string(cuda_name(ScalarType::u32)), ScalarType::u32);
  index.is_const = true;
  const StmtPtr declared = declare(
      index, add(multiply(builtin("blockIdx.x"), builtin("blockDim.x")), builtin(kPlaceInRow)));
  Launch made = launch;
  made.grid[0] = launch.grid[0].substitute({{"bx", IntegerExpression(threads)}});
  const ExprPtr extent = grid_extent(made, 0, form.kernel);
  made.block = {extent ? kRaisedBlock : 1, 1, 1};
  if (extent) {
    made.grid[0] = IntegerExpression::ceil_divide(made.grid[0], IntegerExpression::symbol("bx"));
    rows = {branch(less(row, extent), std::move(rows))};
  }
  rows.insert(rows.begin(), declared);
  result.unit.kernel.body = std::move(rows);
  result.unit.kernel.launch_bounds_min_blocks.reset();
  relaunch(result, made);
  kernel.note_reliance(result);
  return result;
}

}  // namespace regraph::rewrite
