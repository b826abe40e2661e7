// tensor_core: a matrix product is computed by tensor cores.
//
//   for (k = 0; k < K; ++k) sum += A[i*K+k] * B[k*N+j];     one thread an element
//
// becomes a block for a tile of C, warps that multiply fragments of strips of A and B in shared
// memory, and asynchronous copies that fill several strips ahead (tensor_code.h). What the original
// does with the sum is done for each element, under its guards.
//
// Legal where the problem grants lower precision, because factors are rounded to tf32: 10 of 23
// bits of the mantissa stay; sums are of single precision, in another order. The kernel has to be
// such a product and nothing else (matrix_product.h): each factor read only, along one axis of the
// grid and k; guards of rows and columns apart, so that elements outside become zeros, which add
// nothing to what is kept. Any sizes: copies are by vectors where rows are aligned (asked when the
// kernel runs) and by elements elsewhere.
#include "affine/block_geometry.h"
#include "rewrite/analysis/matrix_product.h"
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/tensor_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <tuple>

namespace regraph::rewrite {
namespace {

struct TensorPlace {
  MatrixProduct product;
  TensorTile tile;
  Launch launch;  // afterwards
};

// "sm_90a" -> 90, 0 for what is not named that way.
int architecture_number(const std::string& architecture) {
  int number = 0;
  constexpr std::size_t kPrefix = 3;
  if (architecture.size() > kPrefix)
    std::from_chars(architecture.data() + kPrefix, architecture.data() + architecture.size(),
                    number);
  return number;
}

class TensorCore final : public PlacedStep<TensorPlace> {
 public:
  std::string_view id() const override { return "tensor_core"; }
  // The first was the fastest of these for 4096^3 on an H200. Two blocks of 128x128 on a
  // multiprocessor hide each other's waits; smaller tiles are for where there would be too few
  // blocks.
  std::vector<StepParameters> settings() const override {
    std::vector<StepParameters> result;
    for (const auto& [tile, depth, stages, fragments] :
         {std::tuple("256x128", "32", "3", "2"), std::tuple("128x256", "32", "3", "2"),
          std::tuple("128x128", "32", "3", "1"), std::tuple("256x128", "32", "3", "1"),
          std::tuple("256x128", "16", "4", "1"), std::tuple("128x256", "16", "4", "1"),
          std::tuple("128x128", "16", "3", "1"), std::tuple("64x64", "16", "4", "1"),
          std::tuple("64x64", "32", "3", "1")}) {
      result.push_back({{"input", "tf32"}, {"tile", tile}, {"depth", depth}, {"stages", stages}});
      if (fragments == std::string_view("2")) result.back()["fragments"] = fragments;
    }
    return result;
  }

 protected:
  Result<TensorPlace> find(const KernelAnalysis& kernel,
                           const StepParameters& parameters) const override {
    auto input = text_parameter(parameters, "input");
    if (!input) return input.error();
    if (*input != "tf32") return fail(ErrorCode::invalid_argument, "'input' must be tf32");
    auto tile = text_parameter(parameters, "tile");
    if (!tile) return tile.error();
    auto depth = integer_parameter(parameters, "depth");
    if (!depth) return depth.error();
    auto stages = integer_parameter(parameters, "stages");
    if (!stages) return stages.error();
    int fragments = 1;
    if (parameters.contains("fragments")) {
      auto sets = integer_parameter(parameters, "fragments");
      if (!sets) return sets.error();
      fragments = *sets;
    }
    if (fragments != 1 && (fragments != 2 || *depth == TensorTile::kStepDepth)) {
      return fail(ErrorCode::invalid_argument,
                  "'fragments' must be 1, or 2 where 'depth' is 16 or 32");
    }
    const auto shape = shape_of(*tile);
    if (!shape || (*depth != 8 && *depth != 16 && *depth != 32) || *stages < 2 ||
        *stages > kMostStages) {
      return fail(
          ErrorCode::invalid_argument,
          "'tile' must be 256x128, 128x256, 128x128 or 64x64, 'depth' 8, 16 or 32, 'stages' "
          "2 to 6");
    }
    if (Status status = require_grants(kernel); !status) return status.error();
    auto form = kernel.direct_normal();
    if (!form) return form.error();
    auto launch = kernel.launch();
    if (!launch) return launch.error();
    auto product = find_matrix_product(**form, kernel);
    if (!product) return product.error();
    TensorPlace place{std::move(*product), {}, **launch};
    place.tile.depth = *depth;
    place.tile.stages = *stages;
    place.tile.ahead = fragments == 2;
    if (Status status = lay_out(*shape, place, kernel); !status) return status.error();
    return place;
  }

  KernelState rewrite(const KernelAnalysis& kernel, const TensorPlace& place) const override {
    const KernelForm& form = **kernel.direct_normal();
    KernelState result = kernel.state();
    result.unit.kernel = form.kernel;
    result.unit.kernel.body = tensor_code(form, **kernel.launch(), place.product, place.tile);
    result.unit.kernel.launch_bounds_threads = place.tile.threads();
    result.unit.kernel.launch_bounds_min_blocks = blocks_with_registers(place.tile);
    result.plan.launches.front() = place.launch;
    rely_on(result, kNeedsDistinctBuffers);
    rely_on(result, kReordersSums);
    rely_on(result, kLowersPrecision);
    rely_on_alignment(result, kernel.problem().assume.align);
    return result;
  }

 private:
  static constexpr int kMostStages = 6;

  // How many blocks a multiprocessor's registers suffice for: a thread needs some hundred beside
  // those for its sums, and has 255 at most.
  static int blocks_with_registers(const TensorTile& tile) {
    constexpr int kManySums = 128;
    const int sums = tile.warp[0] * tile.warp[1] / 32;
    const int threads = sums >= kManySums ? 256 : 512;
    return std::max(1, threads / tile.threads());
  }

  struct Shape {
    int columns = 0;
    int rows = 0;
  };

  static std::optional<Shape> shape_of(const std::string& text) {
    for (const auto& [name, shape] :
         {std::pair("256x128", Shape{256, 128}), std::pair("128x256", Shape{128, 256}),
          std::pair("128x128", Shape{128, 128}), std::pair("64x64", Shape{64, 64})}) {
      if (text == name) return shape;
    }
    return std::nullopt;
  }

  static Status require_grants(const KernelAnalysis& kernel) {
    const Assumptions& assume = kernel.problem().assume;
    if (assume.keep_precision) {
      return refuse(
          "the problem does not grant 'assume: {precision: any}', and tf32 keeps 10 bits of a "
          "factor's mantissa");
    }
    if (!assume.reassociate)
      return refuse("the problem does not grant 'assume: {reassociate: true}'");
    if (!assume.noalias)
      return refuse(
          "the problem does not grant 'assume: {noalias: true}', so a copy could go stale");
    constexpr int kLeastArchitecture = 80;
    if (architecture_number(kernel.limits().architecture) < kLeastArchitecture)
      return refuse("the device has no tensor cores for tf32");
    if (const Status& status = kernel.transparent(); !status) return status;
    const Analysis& analysis = kernel.analysis();
    if (analysis.has_shared() || analysis.has_barrier() || analysis.uses_warp_intrinsics())
      return refuse("threads of a block work together already");
    if (!analysis.unknown_calls().empty()) {
      return refuse("the kernel calls '" + *analysis.unknown_calls().begin() +
                    "', which may read memory");
    }
    return {};
  }

  static Status lay_out(const Shape& shape, TensorPlace& place, const KernelAnalysis& kernel) {
    TensorTile& tile = place.tile;
    // Columns are the axis whose neighbours the first factor with neighbours along it has.
    const std::size_t columns = place.product.factors[0].along_k ? 1 : 0;
    tile.tile[columns] = shape.columns;
    tile.tile[1 - columns] = shape.rows;
    constexpr int kSmall = 64;
    tile.warp = shape.columns <= kSmall ? std::array{32, 32} : std::array{64, 64};
    // What static arrays can't have, a kernel may opt in to.
    const DeviceLimits& limits = kernel.limits();
    tile.is_dynamic = tile.shared_bytes() > limits.shared_bytes_per_block;
    const std::int64_t most =
        std::max(limits.shared_bytes_per_block, limits.shared_bytes_per_block_opt_in);
    if (tile.shared_bytes() > most) {
      return refuse(fmt::format("the strips need {} bytes of shared memory, a block has {} at most",
                                tile.shared_bytes(), most));
    }
    if (tile.is_dynamic) place.launch.dynamic_shared_bytes = IntegerExpression(tile.shared_bytes());
    return launch_tiles(place, kernel);
  }

  // A block for a tile.
  static Status launch_tiles(TensorPlace& place, const KernelAnalysis& kernel) {
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
      const std::int64_t threads = extent(block, axis);
      const std::int64_t tile = place.tile.tile[i];
      grid = tile % threads == 0
                 ? IntegerExpression::ceil_divide(grid, IntegerExpression(tile / threads))
                 : IntegerExpression::ceil_divide(
                       IntegerExpression::multiply(grid, IntegerExpression(threads)),
                       IntegerExpression(tile));
    }
    launch.block = Dim3{static_cast<std::uint32_t>(place.tile.threads()), 1, 1};
    return require_possible(launch, kernel);
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_tensor_core() {
  return std::make_unique<TensorCore>();
}

}  // namespace regraph::rewrite
