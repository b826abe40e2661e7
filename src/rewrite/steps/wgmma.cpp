// wgmma: a product of matrices is computed by Hopper's tensor cores, which read their factors from
// shared memory.
//
//   for (k = 0; k < K; ++k) sum += float(A[i*K+k]) * float(B[k*N+j]);     one thread an element
//
// becomes a block for a tile of C: a warpgroup that copies strips of A and B, several ahead, and
// two that multiply them (warpgroup_code.h). What the original does with the sum is done for each
// element, under its guards.
//
// Of 16 bits, tensor cores read factors whichever way they lie in memory. Of bytes and of single
// precision they read those whose neighbours in memory differ in k; one that lies the other way
// goes through registers (register_fragments.h), and fills the instruction's rows.
//
// Legal where sums may be reordered: products of two halves, or of two bfloat16, are exact in
// single precision, in which tensor cores add up, sums of bytes are exact in any order. Factors of
// single precision are rounded to tf32, or cut off to it at the matrices' borders, where the
// problem grants that. The kernel has to be such a product and nothing else (matrix_product.h), of
// factors in any order; sizes are any: what is outside becomes zeros, copies are by vectors where
// rows are aligned (asked when the kernel runs) and by elements elsewhere. sm_90a alone has the
// instruction.
#include "rewrite/steps/parameter_reader.h"
#include "rewrite/steps/product_step.h"
#include "rewrite/transform/tensor_boxes.h"
#include "rewrite/transform/warpgroup_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

namespace regraph::rewrite {
namespace {

class Wgmma final : public ProductStep {
 public:
  std::string_view id() const override { return "wgmma"; }
  // The first is the fastest for large matrices on an H200; smaller tiles are for where there would
  // be too few blocks.
  std::vector<StepParameters> settings() const override {
    return {{{"columns", "256"}, {"rows", "128"}, {"stages", "4"}},
            {{"columns", "128"}, {"rows", "256"}, {"stages", "4"}},
            {{"columns", "128"}, {"rows", "128"}, {"stages", "6"}}};
  }

 protected:
  Requirements requirements() const override { return product_requirements(); }

  Result<TensorPlace> find(const KernelAnalysis& kernel,
                           const StepParameters& parameters) const override {
    ParameterReader reader(parameters);
    const int columns = reader.integer("columns");
    const int rows = reader.integer("rows");
    const int stages = reader.integer("stages");
    if (!reader.status()) return reader.status().error();
    const auto is_extent = [](int extent) { return extent == 128 || extent == 256; };
    constexpr int kMostStages = 8;
    if (!is_extent(columns) || !is_extent(rows) || columns + rows > 384 || stages < 2 ||
        stages > kMostStages) {
      return fail(ErrorCode::invalid_argument,
                  "'columns' and 'rows' must be 128 or 256, not both 256, 'stages' 2 to 8");
    }
    constexpr int kArchitecture = 90;
    if (architecture_number(kernel.limits().architecture) / 10 != kArchitecture / 10)
      return refuse("sm_90 alone has wgmma");
    auto found = find_tensor_place(kernel, kArchitecture);
    if (!found) return found.error();
    TensorPlace place = std::move(*found);
    if (place.tile.element == ScalarType::f32 && !kernel.problem().assume.lets_precision_go())
      return refuse(kLosesPrecision);
    const std::size_t of_rows = rows_in_memory(place.product);
    TensorTile& tile = place.tile;
    tile.tile[of_rows] = rows;
    tile.tile[1 - of_rows] = columns;
    if (Status status = share_out(place); !status) return status.error();
    tile.layout = StripLayout::panels;
    tile.depth = tile.panel();
    tile.stages = stages;
    tile.copying_threads = kWarpgroupThreads;
    tile.by_boxes = tensor_of(place.product, 0) && tensor_of(place.product, 1);
    const std::int64_t bytes = tile.staged_bytes(of_rows);
    const std::int64_t least = tile.by_boxes ? kLoneBlockBytes : 0;
    if (Status status = take_dynamic_shared(place, std::max(bytes, least), kernel); !status)
      return status.error();
    if (Status status = launch_tiles(place, kMultiplyingThreads + tile.copying_threads, kernel);
        !status)
      return status.error();
    return place;
  }

  KernelState rewrite(const KernelAnalysis& kernel, const TensorPlace& place) const override {
    const KernelForm& form = **kernel.direct_normal();
    KernelState result = kernel.state();
    result.unit.kernel = form.kernel;
    result.unit.kernel.body = warpgroup_code(form, **kernel.launch(), place.product, place.tile);
    result.unit.kernel.launch_bounds_threads = kMultiplyingThreads + place.tile.copying_threads;
    result.unit.kernel.launch_bounds_min_blocks = 1;
    result.plan.launches.front() = place.launch;
    rely_on_product(result, place, kernel);
    rely_on(result, kNeedsOwnTarget);
    return result;
  }

 private:
  // Which factor fills the instruction's rows, half of them a warpgroup.
  static Status share_out(TensorPlace& place) {
    TensorTile& tile = place.tile;
    const auto& factors = place.product.factors;
    tile.instruction_rows = rows_in_memory(place.product);
    if (tile.element_bytes() != 2 && !(factors[0].along_k && factors[1].along_k)) {
      if (!factors[0].along_k && !factors[1].along_k)
        return refuse("no factor's neighbours in memory differ in k, as tensor cores need it");
      tile.from_registers = true;
      tile.instruction_rows = factors[0].along_k ? 1 : 0;
    }
    const std::size_t lines = tile.instruction_rows;
    tile.warp[lines] = tile.tile[lines] / 2;
    tile.warp[1 - lines] = tile.tile[1 - lines];
    constexpr int kTwoFragments = 128;
    if (tile.from_registers && tile.element_bytes() == 1 && tile.warp[lines] != kTwoFragments) {
      return refuse(fmt::format("of bytes, '{}' must be 256 here",
                                lines == rows_in_memory(place.product) ? "rows" : "columns"));
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_wgmma() {
  return std::make_unique<Wgmma>();
}

}  // namespace regraph::rewrite
