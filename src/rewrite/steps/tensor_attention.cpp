// tensor_attention: rows of softmax-weighted sums of 16-bit values are computed by tensor cores.
//
//   One thread a row (a query) multiplies it with every key and adds up the values, weighted by
//   exp(score - largest). Becomes: a block for a tile of rows, whose warps multiply fragments of
//   queries with tiles of keys, and the weights, which stay in registers, with tiles of values
//   (attention_code.h).
//
// Kernels of several passes become online first, by scalar_replacement (where it applies) and
// online_fusion; those with a block a row are taken for one thread a row (thread_serialisation.h).
//
// Legal where sums may be reordered and precision may be lower: products of two halves, or of two
// bfloat16, are exact in single precision, but weights are rounded to the type of the values. The
// kernel has to be such a pattern and nothing else (attention_pattern.h). Numbers of rows and keys
// are any: keys that there are not have a score of minus infinity. Keys may be bounded for each
// row, as in causal attention. Conditions that make scores minus infinity bound them where inputs
// are finite: elsewhere what they mask still counts, times zero.
#include "affine/block_geometry.h"
#include "rewrite/analysis/attention_pattern.h"
#include "rewrite/steps/online_rows.h"
#include "rewrite/steps/parameter_reader.h"
#include "rewrite/steps/product_step.h"
#include "rewrite/transform/attention_code.h"

#include <memory>
#include <string>
#include <utility>

namespace regraph::rewrite {
namespace {

class TensorAttention final : public TriedStep {
 public:
  std::string_view id() const override { return "tensor_attention"; }
  // Warps of 32 rows read shared memory half as often; small tiles are for few rows, and for long
  // ones.
  std::vector<StepParameters> settings() const override {
    std::vector<StepParameters> result;
    const auto add = [&](const char* queries, const char* keys, const char* warps,
                         const char* stages) {
      result.push_back(
          {{"queries", queries}, {"keys", keys}, {"warps", warps}, {"stages", stages}});
    };
    add("128", "64", "4", "2");
    add("64", "64", "4", "2");
    add("128", "64", "8", "2");
    add("128", "128", "8", "2");
    return result;
  }

  Result<KernelState> apply(const KernelAnalysis& kernel,
                            const StepParameters& parameters) const override {
    ParameterReader reader(parameters);
    AttentionTile tile;
    tile.queries = reader.integer("queries");
    tile.keys = reader.integer("keys");
    tile.warps = reader.integer("warps");
    tile.stages = reader.integer("stages");
    if (!reader.status()) return reader.status().error();
    const auto is_extent = [](int extent) { return extent == 64 || extent == 128; };
    const bool is_warps =
        (tile.warps == 4 || tile.warps == 8) && tile.queries % (16 * tile.warps) == 0;
    constexpr int kMostStages = 4;
    if (!is_extent(tile.queries) || !is_extent(tile.keys) || !is_warps || tile.stages < 2 ||
        tile.stages > kMostStages) {
      return fail(ErrorCode::invalid_argument,
                  "'queries' and 'keys' must be 64 or 128, 'warps' 4, or 8 for 128 queries, "
                  "'stages' 2 to 4");
    }
    if (Status status = require_grants(kernel); !status) return status.error();
    const auto online = online_rows(kernel);
    if (!online) return online.error();
    return on_tensor_cores(KernelAnalysis(*online, kernel.problem(), kernel.limits()), tile);
  }

 private:
  static Status require_grants(const KernelAnalysis& kernel) {
    constexpr int kLeastArchitecture = 80;
    if (architecture_number(kernel.limits().architecture) < kLeastArchitecture)
      return refuse("the device has no such tensor cores");
    if (!kernel.problem().assume.reassociate)
      return refuse("the problem does not grant 'assume: {reassociate: true}'");
    if (!kernel.problem().assume.lets_precision_go()) {
      return refuse(
          "the problem does not grant 'assume: {precision: any}', and weights would be rounded to "
          "the 16 bits of the values");
    }
    return require({.distinct_buffers = "a copy could go stale", .known_calls = true}, kernel);
  }

  static Result<KernelState> on_tensor_cores(const KernelAnalysis& kernel, AttentionTile tile) {
    const Requirements needed = {.shared = SharedMemory::none, .lone_threads = true};
    if (Status status = require(needed, kernel); !status) return status.error();
    for (const char* axis : kAxes) {
      if (kernel.analysis().uses_builtin(std::string("gridDim.") + axis))
        return refuse("the kernel asks for the grid's extent, which changes");
    }
    const auto pattern = find_attention(kernel);
    if (!pattern) return pattern.error();
    tile.guards_values = !kernel.problem().assume.finite;
    constexpr int kManyElements = 128;
    if (tile.rows_of_warp() > 16 && pattern->values.elements > kManyElements)
      return refuse("a thread would need more registers for sums than there are");
    KernelState result = kernel.state();
    Launch launch = result.plan.launches.front();
    for (IntegerExpression& grid : launch.grid)
      grid = with_block_extents(grid, launch.block);
    IntegerExpression& grid = launch.grid[static_cast<std::size_t>(pattern->axis.axis)];
    grid = tiles_of(grid, extent(launch.block, pattern->axis.axis), tile.queries);
    launch.block = Dim3{static_cast<std::uint32_t>(tile.threads()), 1, 1};
    if (Status status = set_dynamic_shared(launch, tile.bytes(*pattern), kernel, "the tiles need");
        !status)
      return status.error();
    if (Status status = require_possible(launch, kernel); !status) return status.error();
    result.unit.kernel = pattern->form->kernel;
    result.unit.kernel.body = attention_code(*pattern, tile);
    result.unit.kernel.launch_bounds_threads = tile.threads();
    constexpr int kManyThreads = 128;
    result.unit.kernel.launch_bounds_min_blocks = tile.threads() > kManyThreads ? 1 : 2;
    result.plan.launches.front() = launch;
    rely_on(result, kNeedsDistinctBuffers);
    rely_on(result, kReordersSums);
    rely_on(result, kLowersPrecision);
    rely_on_alignment(result, kernel.problem().assume.align);
    kernel.note_reliance(result);
    return result;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_tensor_attention() {
  return std::make_unique<TensorAttention>();
}

}  // namespace regraph::rewrite
