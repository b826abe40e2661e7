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
#include "rewrite/transform/warpgroup_product.h"

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
    return {setting("wgmma", "128", "64", "8"), setting("wgmma", "128", "128", "8"),
            setting("mma", "128", "64", "4"), setting("mma", "64", "64", "4"),
            setting("mma", "128", "64", "8")};
  }

  Result<KernelState> apply(const KernelAnalysis& kernel,
                            const StepParameters& parameters) const override {
    ParameterReader reader(parameters);
    AttentionTile tile;
    const std::string instruction = reader.text("instruction");
    tile.by_warpgroups = instruction == "wgmma";
    tile.queries = reader.integer("queries");
    tile.keys = reader.integer("keys");
    tile.warps = reader.integer("warps");
    tile.stages = reader.integer("stages");
    if (!reader.status()) return reader.status().error();
    constexpr int kMostStages = 4;
    if ((instruction != "mma" && instruction != "wgmma") || !has_shape(tile) || tile.stages < 2 ||
        tile.stages > kMostStages) {
      return fail(ErrorCode::invalid_argument,
                  "'instruction' must be mma or wgmma, 'keys' 64 or 128, 'queries' 64, 128 or, by "
                  "wgmma, 192, 'warps' a 16th of these, or a 32nd by mma, and 'stages' 2 to 4");
    }
    constexpr int kArchitecture = 90;
    if (tile.by_warpgroups &&
        architecture_number(kernel.limits().architecture) / 10 != kArchitecture / 10)
      return refuse("sm_90 alone has wgmma");
    if (Status status = require_grants(kernel); !status) return status.error();
    const auto online = online_rows(kernel);
    if (!online) return online.error();
    return on_tensor_cores(KernelAnalysis(*online, kernel.problem(), kernel.limits()), tile);
  }

 private:
  static StepParameters setting(const char* instruction, const char* queries, const char* keys,
                                const char* warps) {
    return {{"instruction", instruction},
            {"queries", queries},
            {"keys", keys},
            {"warps", warps},
            {"stages", "2"}};
  }

  static bool has_shape(const AttentionTile& tile) {
    if (tile.keys != 64 && tile.keys != 128) return false;
    const int groups = tile.queries / kWarpgroupRows;
    if (tile.queries % kWarpgroupRows != 0 || groups < 1) return false;
    if (tile.by_warpgroups) return groups <= 3 && tile.warps == 4 * groups;
    return groups <= 2 && (tile.warps == 4 || tile.warps == 8) &&
           tile.queries % (16 * tile.warps) == 0;
  }

  // For a thread's sums and scores, and the weights of these in 16 bits.
  static int registers_of(const AttentionTile& tile, const AttentionPattern& pattern) {
    return pattern.values.elements / 2 + tile.keys / 2 + tile.keys / 4;
  }

  static bool fits_registers(const AttentionTile& tile, const AttentionPattern& pattern) {
    constexpr int kMost = 176;
    constexpr int kMostOfPair = 128;  // elements of values, where warps have 32 rows
    if (!tile.by_warpgroups)
      return tile.rows_of_warp() <= 16 || pattern.values.elements <= kMostOfPair;
    return registers_of(tile, pattern) <= kMost;
  }

  // Of two blocks one computes weights while the other one multiplies.
  static int blocks_of_processor(const AttentionTile& tile, const AttentionPattern& pattern) {
    constexpr int kFewRegisters = 112;
    constexpr int kFewThreads = 128;
    if (tile.by_warpgroups)
      return registers_of(tile, pattern) * tile.warps <= kFewRegisters * 8 ? 2 : 1;
    return tile.threads() <= kFewThreads ? 2 : 1;
  }

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
    if (!fits_registers(tile, *pattern))
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
    result.unit.kernel.launch_bounds_min_blocks = blocks_of_processor(tile, *pattern);
    result.plan.launches.front() = launch;
    rely_on(result, kNeedsDistinctBuffers);
    rely_on(result, kReordersSums);
    rely_on(result, kLowersPrecision);
    if (tile.by_warpgroups) rely_on(result, kNeedsOwnTarget);
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
