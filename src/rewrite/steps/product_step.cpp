#include "rewrite/steps/product_step.h"

#include "affine/block_geometry.h"
#include "rewrite/analysis/matrix_product.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace regraph::rewrite {

int architecture_number(const std::string& architecture) {
  int number = 0;
  constexpr std::size_t kPrefix = 3;
  if (architecture.size() > kPrefix)
    std::from_chars(architecture.data() + kPrefix, architecture.data() + architecture.size(),
                    number);
  return number;
}

Result<TensorPlace> find_tensor_place(const KernelAnalysis& kernel, int least_architecture) {
  if (!kernel.problem().assume.reassociate)
    return refuse("the problem does not grant 'assume: {reassociate: true}'");
  if (architecture_number(kernel.limits().architecture) < least_architecture)
    return refuse("the device has no such tensor cores");
  auto form = kernel.direct_normal();
  if (!form) return form.error();
  auto launch = kernel.launch();
  if (!launch) return launch.error();
  auto product = find_matrix_product(**form, kernel);
  if (!product) return product.error();
  TensorPlace place{std::move(*product), {}, **launch};
  place.tile.element = place.product.factor_type;
  return place;
}

IntegerExpression tiles_of(const IntegerExpression& grid, std::int64_t before, std::int64_t tile) {
  if (tile % before == 0)
    return IntegerExpression::ceil_divide(grid, IntegerExpression(tile / before));
  return IntegerExpression::ceil_divide(
      IntegerExpression::multiply(grid, IntegerExpression(before)), IntegerExpression(tile));
}

Status launch_tiles(TensorPlace& place, int threads, const KernelAnalysis& kernel) {
  Launch& launch = place.launch;
  const Dim3 block = launch.block;
  for (int axis = 0; axis < 3; ++axis) {
    IntegerExpression& grid = launch.grid[static_cast<std::size_t>(axis)];
    if (kernel.analysis().uses_builtin(std::string("gridDim.") +
                                       kAxes[static_cast<std::size_t>(axis)]))
      return refuse("the kernel asks for the grid's extent, which changes");
    grid = with_block_extents(grid, block);
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const int axis = place.product.factors[i].axis.axis;
    IntegerExpression& grid = launch.grid[static_cast<std::size_t>(axis)];
    grid = tiles_of(grid, extent(block, axis), place.tile.tile[i]);
  }
  launch.block = Dim3{static_cast<std::uint32_t>(threads), 1, 1};
  return require_possible(launch, kernel);
}

Status set_dynamic_shared(Launch& launch, std::int64_t bytes, const KernelAnalysis& kernel,
                          const std::string& what) {
  const DeviceLimits& limits = kernel.limits();
  const std::int64_t most =
      std::max(limits.shared_bytes_per_block, limits.shared_bytes_per_block_opt_in);
  if (bytes > most) {
    return refuse(
        fmt::format("{} {} bytes of shared memory, a block has {} at most", what, bytes, most));
  }
  launch.dynamic_shared_bytes = IntegerExpression(bytes);
  return {};
}

Status take_dynamic_shared(TensorPlace& place, std::int64_t bytes, const KernelAnalysis& kernel) {
  place.tile.is_dynamic = true;
  return set_dynamic_shared(place.launch, bytes, kernel, "the strips need");
}

}  // namespace regraph::rewrite
