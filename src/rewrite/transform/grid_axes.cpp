#include "rewrite/transform/grid_axes.h"

#include "affine/block_geometry.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/walk.h"

#include <string>
#include <utility>

namespace regraph::rewrite {

namespace {

// Whether the value takes thread `thread` and block `number` (axes) as one place.
bool is_place(const Polynomial& value, int thread, int number, const Dim3& block) {
  const auto axis = [](const char* builtin, int which) {
    return builtin + std::string(kAxes[static_cast<std::size_t>(which)]);
  };
  const auto of_thread = value.coefficient(axis("threadIdx.", thread));
  const auto of_block = value.coefficient(axis("blockIdx.", number));
  return of_thread && of_block && !of_thread->is_zero() &&
         *of_block == *of_thread * Polynomial(std::int64_t{extent(block, thread)});
}

}  // namespace

std::optional<ExchangedGrid> with_grid_exchanged(const Kernel& kernel, const Launch& launch) {
  const Analysis analysis(kernel);
  bool is_straight = false;
  bool columns_are_crossed = false;
  bool rows_are_crossed = false;
  for_each_polynomial(kernel, analysis, [&](const Polynomial& polynomial) {
    const Polynomial value = with_block_extents(polynomial, launch.block);
    is_straight =
        is_straight || is_place(value, 0, 0, launch.block) || is_place(value, 1, 1, launch.block);
    columns_are_crossed = columns_are_crossed || is_place(value, 0, 1, launch.block);
    rows_are_crossed = rows_are_crossed || is_place(value, 1, 0, launch.block);
  });
  if (is_straight || !columns_are_crossed || !rows_are_crossed) return std::nullopt;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    for (const char* extents : {"bx", "by", "bz"}) {
      if (launch.grid[axis].symbols().contains(extents)) return std::nullopt;
    }
  }
  ExchangedGrid result{{}, launch};
  std::swap(result.launch.grid[0], result.launch.grid[1]);
  result.body = rewrite_expressions(kernel.body, [](const ExprPtr& expr) -> std::optional<ExprPtr> {
    const auto* builtin = as<Builtin>(expr);
    if (builtin == nullptr) return std::nullopt;
    for (const std::string which : {"blockIdx.", "gridDim."}) {
      if (builtin->name == which + "x") return source::builtin(which + "y");
      if (builtin->name == which + "y") return source::builtin(which + "x");
    }
    return std::nullopt;
  });
  return result;
}

}  // namespace regraph::rewrite
