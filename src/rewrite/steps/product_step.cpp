#include "rewrite/steps/product_step.h"

#include "affine/block_geometry.h"
#include "rewrite/analysis/matrix_product.h"
#include "rewrite/analysis/row_plan.h"
#include "source/walk.h"

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

namespace {

// What a product has, and tiles in registers do not.
bool has_one_loop(const KernelAnalysis& kernel) {
  int loops = 0;
  walk(kernel.state().unit.kernel.body,
       [&](const Stmt& stmt) { loops += is<ForLoop>(stmt) || is<WhileLoop>(stmt) ? 1 : 0; });
  return loops == 1;
}

// The kernel whose threads are numbered along one axis, with rows and columns of their number.
// Error: refused.
Result<const KernelAnalysis*> with_two_axes(const KernelAnalysis& kernel) {
  const auto launch = kernel.launch();
  if (!launch) return launch.error();
  if ((*launch)->block.y != 1 || (*launch)->block.z != 1)
    return refuse("the block has more than one axis");
  return kernel.after("delinearize by one size", [](const KernelAnalysis& flat) {
    return find_built_in_step("delinearize")->apply(flat, {{"axis", "x"}, {"dimensions", "1"}});
  });
}

}  // namespace

Result<const KernelAnalysis*> plain_product(const KernelAnalysis& kernel) {
  const bool has_shared = kernel.analysis().has_shared();
  if (!has_shared && has_one_loop(kernel)) return &kernel;
  const StepRewriter* const untile = find_built_in_step("untile");
  auto plain = kernel.after(untile->id(),
                            [&](const KernelAnalysis& tiled) { return untile->apply(tiled, {}); });
  if (plain) return plain;
  if (!has_shared) return &kernel;
  return refuse("the kernel uses shared memory already (untile: " + plain.error().message + ")");
}

Result<ProductStep::FoundPlace> ProductStep::found(const KernelAnalysis& kernel,
                                                   const StepParameters& parameters) const {
  const auto plain = plain_product(kernel);
  if (!plain) return plain.error();
  auto place = place_in(**plain, parameters);
  if (place) return FoundPlace{*plain, std::move(*place)};
  const auto apart = with_two_axes(**plain);
  if (!apart) return place.error();
  auto other = place_in(**apart, parameters);
  if (!other) return place.error();
  return FoundPlace{*apart, std::move(*other)};
}

Status ProductStep::match(const KernelAnalysis& kernel, const StepParameters& parameters) const {
  const auto place = found(kernel, parameters);
  return place ? Status() : Status(place.error());
}

Result<KernelState> ProductStep::apply(const KernelAnalysis& kernel,
                                       const StepParameters& parameters) const {
  const auto place = found(kernel, parameters);
  if (!place) return place.error();
  KernelState result = rewrite(*place->kernel, place->place);
  place->kernel->note_reliance(result);
  return result;
}

Result<TensorPlace> ProductStep::place_in(const KernelAnalysis& plain,
                                          const StepParameters& parameters) const {
  if (Status status = require(requirements(), plain); !status) return status.error();
  return find(plain, parameters);
}

Requirements product_requirements() {
  return {.distinct_buffers = "a copy could go stale",
          .shared = SharedMemory::none,
          .lone_threads = true,
          .known_calls = true};
}

void rely_on_product(KernelState& result, const TensorPlace& place, const KernelAnalysis& kernel) {
  rely_on(result, kNeedsDistinctBuffers);
  if (is_floating(place.product.sum_type)) rely_on(result, kReordersSums);
  if (place.tile.element == ScalarType::f32)
    rely_on(result, place.tile.split ? kSplitsFactors : kLowersPrecision);
  rely_on_alignment(result, kernel.problem().assume.align);
}

Result<TensorPlace> find_tensor_place(const KernelAnalysis& kernel, int least_architecture) {
  if (architecture_number(kernel.limits().architecture) < least_architecture)
    return refuse("the device has no such tensor cores");
  auto form = kernel.direct_normal();
  if (!form) return form.error();
  auto launch = kernel.launch();
  if (!launch) return launch.error();
  auto product = find_matrix_product(**form, kernel);
  if (!product) return product.error();
  // Sums of integers are the same in any order.
  if (is_floating(product->sum_type) && !kernel.problem().assume.reassociate)
    return refuse("the problem does not grant 'assume: {reassociate: true}'");
  TensorPlace place{std::move(*product), {}, **launch};
  place.tile.element = place.product.factor_type;
  return place;
}

std::int64_t lines_at_bench_sizes(const MatrixProduct& product, std::size_t factor,
                                  const KernelAnalysis& kernel) {
  const ProductFactor& one = product.factors[factor];
  std::int64_t lines = 0;
  for (const Symbols& sizes : kernel.problem().bench) {
    if (const auto launch = concretise(**kernel.launch(), sizes)) {
      const std::int64_t blocks = extent(launch->grid, one.axis.axis);
      lines = std::max(lines, blocks * extent(launch->block, one.axis.axis));
    }
  }
  for (const TileGuard& guard : one.guards) {
    const Polynomial end = guard.right - guard.left + Polynomial::symbol(one.axis.coordinate);
    if (guard.op != BinaryOperator::less || end.mentions(one.axis.coordinate)) continue;
    if (const auto most = largest_at_bench_sizes(end, kernel.problem()))
      lines = std::min(lines, *most);
  }
  return lines;
}

Status require_ldmatrix(const TensorPlace& place) {
  const auto& factors = place.product.factors;
  if (place.tile.element_bytes() == 1 && !(factors[0].along_k && factors[1].along_k))
    return refuse("ldmatrix reads bytes whose neighbours in memory differ in k, of both factors");
  return {};
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
