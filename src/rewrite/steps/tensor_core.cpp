// tensor_core: a matrix product is computed by tensor cores.
//
//   for (k = 0; k < K; ++k) sum += A[i*K+k] * B[k*N+j];     one thread an element
//
// becomes a block for a tile of C, warps that multiply fragments of strips of A and B in shared
// memory, and asynchronous copies that fill several strips ahead (tensor_code.h). What the original
// does with the sum is done for each element, under its guards.
//
// Legal where sums may be reordered, which stay in single precision: products of two halves, or of
// two bfloat16, are exact in it. Sums of bytes are integers, the same in any order. Factors of
// single precision are rounded to tf32, where the problem grants that: 10 of 23 bits of the
// mantissa stay; or they become sums of two such numbers, whose products are three instructions and
// keep 21 bits (3xTF32). The kernel has to be such a product and nothing else (matrix_product.h):
// each factor read only, along one axis of the grid and k; guards of rows and columns apart, so
// that elements outside become zeros, which add nothing to what is kept. Any sizes: copies are by
// vectors where rows are aligned (asked when the kernel runs) and by elements elsewhere.
#include "rewrite/steps/product_step.h"
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/tensor_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <tuple>

namespace regraph::rewrite {
namespace {

class TensorCore final : public ProductStep {
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
      result.push_back({{"input", kTf32}, {"tile", tile}, {"depth", depth}, {"stages", stages}});
      if (fragments == std::string_view("2")) result.back()["fragments"] = fragments;
    }
    for (const auto& [tile, depth, stages] :
         {std::tuple("128x128", "16", "3"), std::tuple("256x128", "16", "4"),
          std::tuple("64x64", "16", "4")}) {
      result.push_back({{"input", kSplit}, {"tile", tile}, {"depth", depth}, {"stages", stages}});
    }
    for (const auto& [input, depth] : {std::pair(kHalf, "64"), std::pair(kBytes, "128")}) {
      for (const auto& [tile, stages, fragments] :
           {std::tuple("256x128", "3", "2"), std::tuple("128x128", "3", "1"),
            std::tuple("128x128", "3", "2"), std::tuple("128x256", "3", "2"),
            std::tuple("64x64", "4", "1")}) {
        result.push_back({{"input", input}, {"tile", tile}, {"depth", depth}, {"stages", stages}});
        if (fragments == std::string_view("2")) result.back()["fragments"] = fragments;
      }
    }
    return result;
  }

 protected:
  Requirements requirements() const override { return product_requirements(); }

  Result<TensorPlace> find(const KernelAnalysis& kernel,
                           const StepParameters& parameters) const override {
    auto input = text_parameter(parameters, "input");
    if (!input) return input.error();
    const bool is_single = *input == kTf32 || *input == kSplit;
    if (!is_single && *input != kHalf && *input != kBytes)
      return fail(ErrorCode::invalid_argument, "'input' must be tf32, tf32x3, half or int8");
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
    constexpr int kOneStep = 8;
    if (fragments != 1 && (fragments != 2 || *depth == kOneStep)) {
      return fail(ErrorCode::invalid_argument,
                  "'fragments' must be 1, or 2 where 'depth' is 16 or 32");
    }
    const auto shape = shape_of(*tile);
    const bool is_depth = *input == kHalf    ? *depth == 64
                          : *input == kBytes ? *depth == 128
                                             : *depth == kOneStep || *depth == 16 || *depth == 32;
    if (!shape || !is_depth || *stages < 2 || *stages > kMostStages) {
      return fail(
          ErrorCode::invalid_argument,
          "'tile' must be 256x128, 128x256, 128x128 or 64x64, 'depth' 8, 16 or 32 (64 for half, "
          "128 for int8), 'stages' 2 to 6");
    }
    const Assumptions& assume = kernel.problem().assume;
    if (*input == kTf32 && !assume.lets_precision_go()) return refuse(kLosesPrecision);
    if (*input == kSplit && assume.precision == Precision::keep) {
      return refuse(
          "the problem grants neither 'assume: {precision: tf32x3}' nor any, and two tf32 numbers "
          "lose bits of a factor");
    }
    constexpr int kLeastArchitecture = 80;
    auto found = find_tensor_place(kernel, kLeastArchitecture);
    if (!found) return found.error();
    TensorPlace place = std::move(*found);
    const ScalarType element = place.tile.element;
    const char* const own = size_in_bytes(element) == 4   ? kTf32
                            : size_in_bytes(element) == 2 ? kHalf
                                                          : kBytes;
    place.tile.split = *input == kSplit;
    if (*input != own && !(own == kTf32 && place.tile.split))
      return refuse(fmt::format("the factors are of {}: 'input' is {}", cuda_name(element), own));
    if (!is_single) {
      if (Status status = require_ldmatrix(place); !status) return status.error();
      place.tile.layout = StripLayout::panels;
    }
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
    rely_on_product(result, place, kernel);
    return result;
  }

 private:
  static constexpr int kMostStages = 6;
  static constexpr const char* kTf32 = "tf32";
  static constexpr const char* kSplit = "tf32x3";
  static constexpr const char* kHalf = "half";
  static constexpr const char* kBytes = "int8";

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

  static Status lay_out(const Shape& shape, TensorPlace& place, const KernelAnalysis& kernel) {
    TensorTile& tile = place.tile;
    // Columns are the axis whose neighbours the first factor with neighbours along it has.
    const std::size_t columns = place.product.factors[0].along_k ? 1 : 0;
    tile.tile[columns] = shape.columns;
    tile.tile[1 - columns] = shape.rows;
    constexpr int kSmall = 64;
    tile.warp = shape.columns <= kSmall ? std::array{32, 32} : std::array{64, 64};
    // What static arrays can't have, a kernel may opt in to; sums go where such strips were.
    const bool is_staged = tile.layout == StripLayout::panels;
    const std::int64_t bytes =
        is_staged ? tile.staged_bytes(rows_in_memory(place.product)) : tile.shared_bytes();
    if (is_staged || bytes > kernel.limits().shared_bytes_per_block) {
      if (Status status = take_dynamic_shared(place, bytes, kernel); !status) return status;
    }
    return launch_tiles(place, tile.threads(), kernel);
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_tensor_core() {
  return std::make_unique<TensorCore>();
}

}  // namespace regraph::rewrite
