// quantized_gemv: a product of a matrix of 4-bit weights and a vector of 16 bits is computed by
// tensor cores at the rate at which the weights are read.
//
//   for (c) for (o < 16) for (j < 8)                             one thread a row
//     sum += scale[row][c] * ((words[row][16 * c + o] >> 4 * j & 15) - 8) * x[128 * c + 8 * o + j];
//
// has many more instructions than bytes: a weight is shifted, masked, converted and multiplied by
// itself. A block computes some rows, whose words its warps share out; weights become 16 bits two
// at a time and are multiplied by fragments (quantized_product_code.h). A block a row is taken for
// a thread a row first (row_serialisation.h).
//
// Legal where sums may be reordered: scales are taken out of the sums of their groups. Products of
// integers below 16 and of numbers of 16 bits are exact in single precision. Rows and words are
// any: elements that there are not are zeros, rows past the end are read as the last one.
#include "affine/block_geometry.h"
#include "rewrite/analysis/quantized_product.h"
#include "rewrite/steps/parameter_reader.h"
#include "rewrite/steps/product_step.h"
#include "rewrite/transform/quantized_product_code.h"
#include "rewrite/transform/row_serialisation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

namespace regraph::rewrite {
namespace {

struct QuantizedPlace {
  KernelState state;  // whose kernel the product is of
  QuantizedProduct product;
  QuantizedTile tile;
  Launch launch;  // afterwards
};

class QuantizedGemv final : public PlacedStep<QuantizedPlace> {
 public:
  std::string_view id() const override { return "quantized_gemv"; }
  // Few rows give enough blocks to fill the device, many read the vector fewer times.
  std::vector<StepParameters> settings() const override {
    return {setting("4", "16"), setting("8", "16"), setting("4", "32"), setting("8", "32")};
  }

 protected:
  Requirements requirements() const override {
    return {.distinct_buffers = "a weight could be written before it is read", .known_calls = true};
  }

  Result<QuantizedPlace> find(const KernelAnalysis& kernel,
                              const StepParameters& parameters) const override {
    ParameterReader reader(parameters);
    QuantizedTile tile;
    tile.warps = reader.integer("warps");
    tile.rows = reader.integer("rows");
    if (!reader.status()) return reader.status().error();
    if ((tile.warps != 4 && tile.warps != 8) || (tile.rows != 16 && tile.rows != 32))
      return fail(ErrorCode::invalid_argument, "'warps' must be 4 or 8, 'rows' 16 or 32");
    constexpr int kLeastArchitecture = 80;
    if (architecture_number(kernel.limits().architecture) < kLeastArchitecture)
      return refuse("the device has no such tensor cores");
    if (!kernel.problem().assume.reassociate)
      return refuse("the problem does not grant 'assume: {reassociate: true}'");
    tile.alignment = kernel.problem().assume.align;
    if (Status status = require_arrays(kernel); !status) return status.error();
    const bool is_shared =
        kernel.analysis().has_shared() || kernel.analysis().uses_warp_intrinsics();
    if (!is_shared) return find_in(kernel, tile);
    const auto serialised = serialise_rows(kernel);
    if (!serialised) return serialised.error();
    return find_in(KernelAnalysis(*serialised, kernel.problem(), kernel.limits()), tile);
  }

  KernelState rewrite(const KernelAnalysis& kernel, const QuantizedPlace& place) const override {
    KernelState result = place.state;
    result.unit.kernel = place.product.form->kernel;
    result.unit.kernel.body = quantized_product_code(place.product, place.tile);
    result.unit.kernel.launch_bounds_threads = place.tile.threads();
    result.unit.kernel.launch_bounds_min_blocks = place.tile.blocks();
    result.plan.launches.front() = place.launch;
    rely_on(result, kNeedsDistinctBuffers);
    rely_on(result, kReordersSums);
    rely_on_alignment(result, kernel.problem().assume.align);
    return result;
  }

 private:
  // Most kernels have no such arrays, and need not be looked at further.
  static Status require_arrays(const KernelAnalysis& kernel) {
    const auto has_array = [&](std::initializer_list<ScalarType> types) {
      const auto& parameters = kernel.kernel().parameters;
      return std::any_of(parameters.begin(), parameters.end(), [&](const KernelParameter& one) {
        return one.is_pointer && one.scalar &&
               std::find(types.begin(), types.end(), *one.scalar) != types.end();
      });
    };
    if (!has_array({ScalarType::i32, ScalarType::u32}))
      return refuse("no array has weights in words of 32 bits");
    if (!has_array({ScalarType::f16, ScalarType::bf16}))
      return refuse("no vector is of half or bfloat16");
    return {};
  }

  // Of a kernel with a thread a row.
  static Result<QuantizedPlace> find_in(const KernelAnalysis& kernel, const QuantizedTile& tile) {
    const Requirements needed = {.shared = SharedMemory::none, .lone_threads = true};
    if (Status status = require(needed, kernel); !status) return status.error();
    for (const char* axis : kAxes) {
      if (kernel.analysis().uses_builtin(std::string("gridDim.") + axis))
        return refuse("the kernel asks for the grid's extent, which changes");
    }
    auto product = find_quantized_product(kernel);
    if (!product) return product.error();
    Launch launch = kernel.state().plan.launches.front();
    for (IntegerExpression& grid : launch.grid)
      grid = with_block_extents(grid, launch.block);
    IntegerExpression& grid = launch.grid[static_cast<std::size_t>(product->axis.axis)];
    grid = tiles_of(grid, extent(launch.block, product->axis.axis), tile.rows);
    launch.block = Dim3{static_cast<std::uint32_t>(tile.threads()), 1, 1};
    if (Status status = require_possible(launch, kernel); !status) return status.error();
    KernelState state = kernel.state();
    kernel.note_reliance(state);
    return QuantizedPlace{std::move(state), std::move(*product), tile, std::move(launch)};
  }

  static StepParameters setting(const char* warps, const char* rows) {
    return {{"warps", warps}, {"rows", rows}};
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_quantized_gemv() {
  return std::make_unique<QuantizedGemv>();
}

}  // namespace regraph::rewrite
