// skinny_gemm: a product of matrices of 16 or 8 bits with few rows or columns is computed by tensor
// cores at the rate at which the large factor is copied.
//
//   for (k = 0; k < K; ++k) sum += float(A[i*K+k]) * float(B[j*K+k]);     one thread an element
//
// with 1 to 64 rows i, as where a language model decodes, has a few operations for each byte of B,
// which is read once. A block computes all rows of some columns; its warps share out k (sliced-K),
// and each copies strips of both factors for itself, several ahead, so that none waits for another
// one until the sums are put together in shared memory (tensor_code.h). Narrow tiles give enough
// blocks to fill the device, wide ones read the small factor fewer times. What the original does
// with the sum is done for each element, under its guards.
//
// Legal where tensor_core is, for any sizes: more rows than a tile has go to further blocks. Lines
// outside are filled with zeros by the copies themselves.
#include "rewrite/steps/parameter_reader.h"
#include "rewrite/steps/product_step.h"
#include "rewrite/transform/tensor_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace regraph::rewrite {
namespace {

class SkinnyGemm final : public PlacedStep<TensorPlace> {
 public:
  std::string_view id() const override { return "skinny_gemm"; }
  std::vector<StepParameters> settings() const override {
    // Few, since they share what is expected of the step.
    return {setting("32", "4", "4"), setting("64", "4", "4"), setting("32", "8", "2"),
            setting("16", "8", "4")};
  }

 protected:
  Requirements requirements() const override { return product_requirements(); }

  Result<TensorPlace> find(const KernelAnalysis& kernel,
                           const StepParameters& parameters) const override {
    ParameterReader reader(parameters);
    const int tile = reader.integer("tile");
    const int slices = reader.integer("slices");
    const int stages = reader.integer("stages");
    if (!reader.status()) return reader.status().error();
    constexpr int kMostSlices = 16;
    constexpr int kMostStages = 8;
    if ((tile != 16 && tile != 32 && tile != 64) || slices < 2 || slices > kMostSlices ||
        stages < 2 || stages > kMostStages) {
      return fail(ErrorCode::invalid_argument,
                  "'tile' must be 16, 32 or 64, 'slices' 2 to 16, 'stages' 2 to 8");
    }
    constexpr int kLeastArchitecture = 80;
    auto found = find_tensor_place(kernel, kLeastArchitecture);
    if (!found) return found.error();
    TensorPlace place = std::move(*found);
    if (place.tile.element == ScalarType::f32)
      return refuse("the factors are of single precision, not of 16 or 8 bits");
    if (Status status = require_ldmatrix(place); !status) return status.error();
    auto few = lay_out_few(place, kernel);
    if (!few) return few.error();
    TensorTile& layout = place.tile;
    layout.tile[1 - *few] = tile;
    layout.warp = layout.tile;
    layout.layout = StripLayout::panels;
    layout.depth = layout.panel();
    layout.stages = stages;
    layout.slices = slices;
    layout.fills_zeros = true;
    const std::int64_t bytes = layout.staged_bytes(rows_in_memory(place.product));
    if (Status status = take_dynamic_shared(place, bytes, kernel); !status) return status.error();
    if (Status status = launch_tiles(place, layout.threads(), kernel); !status)
      return status.error();
    return place;
  }

  KernelState rewrite(const KernelAnalysis& kernel, const TensorPlace& place) const override {
    const KernelForm& form = **kernel.direct_normal();
    KernelState result = kernel.state();
    result.unit.kernel = form.kernel;
    result.unit.kernel.body = tensor_code(form, **kernel.launch(), place.product, place.tile);
    result.unit.kernel.launch_bounds_threads = place.tile.threads();
    result.unit.kernel.launch_bounds_min_blocks = 1;
    result.plan.launches.front() = place.launch;
    rely_on_product(result, place, kernel);
    return result;
  }

 private:
  static StepParameters setting(const char* tile, const char* slices, const char* stages) {
    return {{"tile", tile}, {"slices", slices}, {"stages", stages}};
  }

  // Chooses the factor with few lines, and a tile that has them all where it can.
  static Result<std::size_t> lay_out_few(TensorPlace& place, const KernelAnalysis& kernel) {
    const std::array<std::int64_t, 2> lines = {lines_at_bench_sizes(place.product, 0, kernel),
                                               lines_at_bench_sizes(place.product, 1, kernel)};
    const std::size_t few = lines[0] < lines[1] ? 0 : 1;
    constexpr int kMost = 64;
    if (lines[few] > kMost) {
      return refuse(
          fmt::format("the product has {} by {} elements, where a skinny one has at most "
                      "{} along an axis",
                      lines[0], lines[1], kMost));
    }
    int tile = 16;
    while (tile < lines[few])
      tile *= 2;
    place.tile.tile[few] = tile;
    return few;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_skinny_gemm() {
  return std::make_unique<SkinnyGemm>();
}

}  // namespace regraph::rewrite
