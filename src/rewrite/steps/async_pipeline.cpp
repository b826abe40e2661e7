// async_pipeline: tiles are copied by the hardware, several strips ahead.
//
//   for (k0 ...) { tile[...] = a[k0 ...]; barrier; use tile; barrier; }
// becomes, with S stages,
//   start copies of the first S - 1 strips, each a group
//   for (k0 ...) {
//     wait for the oldest group; barrier; start the copies of strip k0 + (S - 1) D; use its tile;
//   }
//
// What is copied passes no registers, and loads of several strips are in flight. One barrier a
// strip is enough: before it each thread's own copies have arrived, and after it the tile that is
// filled next was used by all.
//
// Where static arrays cannot hold the tiles, they lie in dynamic shared memory, for which a kernel
// may opt in to more.
//
// Legal where double_buffer is (strip_loop.h), when each copy stores an element as it was loaded,
// or zero (async_copy.h), on devices that copy asynchronously.
#include "rewrite/analysis/async_copy.h"
#include "rewrite/analysis/shared_memory.h"
#include "rewrite/analysis/strip_copies.h"
#include "rewrite/analysis/strip_loop.h"
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/dynamic_tiles.h"
#include "rewrite/transform/early_choice.h"
#include "rewrite/transform/names.h"
#include "rewrite/transform/pipeline_tiles.h"
#include "source/walk.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {
namespace {

constexpr const char* kHeader = "cuda_pipeline";

struct Pipeline {
  StripLoop strips;
  Block copies;  // of one strip, asynchronous
  int stages = 0;
  // As they are afterwards, where they have to lie in dynamic shared memory.
  std::vector<Variable> dynamic_tiles;
};

class AsyncPipeline final : public PlacedStep<Pipeline> {
 public:
  std::string_view id() const override { return "async_pipeline"; }
  std::vector<StepParameters> settings() const override {
    return {{{"stages", "2"}}, {{"stages", "3"}}, {{"stages", "4"}}};
  }

 protected:
  Result<Pipeline> find(const KernelAnalysis& kernel,
                        const StepParameters& parameters) const override {
    auto stages = integer_parameter(parameters, "stages");
    if (!stages) return stages.error();
    if (*stages < 2) return fail(ErrorCode::invalid_argument, "'stages' must be at least 2");
    if (!copies_asynchronously(kernel.limits().architecture))
      return refuse(kernel.limits().architecture + " has no asynchronous copies");
    if (!kernel.problem().assume.noalias) {
      return refuse(
          "the problem does not grant 'assume: {noalias: true}', so what is copied early could "
          "change");
    }
    if (const Status& status = kernel.transparent(); !status) return status.error();
    if (!kernel.analysis().has_shared()) return refuse("the kernel has no shared tiles");
    if (!kernel.analysis().unknown_calls().empty()) {
      return refuse("the kernel calls '" + *kernel.analysis().unknown_calls().begin() +
                    "', which may read memory");
    }
    Pipeline pipeline;
    pipeline.stages = *stages;
    auto strips = find_strip_loop(kernel.kernel(), kernel.analysis());
    if (!strips) return strips.error();
    pipeline.strips = std::move(*strips);
    auto copies = split_copies(pipeline.strips, kernel.analysis());
    if (!copies) return copies.error();
    pipeline.copies = copies->declarations;
    Names names(kernel.kernel());
    for (const CopyPart& part : copies->parts) {
      auto block = asynchronous(part, kernel.analysis());
      if (!block) return block.error();
      Block all = with_early_choice(part.around(std::move(*block)), names);
      pipeline.copies.insert(pipeline.copies.end(), all.begin(), all.end());
    }
    if (Status status = place_tiles(kernel, pipeline); !status) return status.error();
    return pipeline;
  }

  KernelState rewrite(const KernelAnalysis& kernel, const Pipeline& pipeline) const override {
    KernelState result = kernel.state();
    result.unit.kernel.body =
        pipeline_tiles(kernel.kernel(), pipeline.strips, pipeline.copies, pipeline.stages);
    if (!pipeline.dynamic_tiles.empty()) {
      DynamicTiles moved = with_dynamic_tiles(result.unit, pipeline.dynamic_tiles);
      result.unit.kernel.body = std::move(moved.body);
      result.plan.launches.front().dynamic_shared_bytes = IntegerExpression(moved.bytes);
    }
    if (result.unit.before.find(kHeader) == std::string::npos)
      result.unit.before = std::string("#include <") + kHeader + ".h>\n\n" + result.unit.before;
    rely_on(result, kNeedsDistinctBuffers);
    return result;
  }

 private:
  // Chooses where the copies of the tiles lie.
  static Status place_tiles(const KernelAnalysis& kernel, Pipeline& pipeline) {
    const std::string what = std::to_string(pipeline.stages) + " copies of the tiles need";
    std::vector<Variable> tiles = pipeline.strips.tiles;
    std::int64_t rest = shared_bytes(kernel.kernel());
    std::int64_t bytes = rest;
    for (Variable& tile : tiles) {
      rest -= bytes_of(tile);
      bytes += (pipeline.stages - 1) * bytes_of(tile);
      tile.extents.insert(tile.extents.begin(), pipeline.stages);
    }
    const DeviceLimits& limits = kernel.limits();
    const bool is_dynamic = limits.shared_bytes_per_block_opt_in > limits.shared_bytes_per_block &&
                            bytes > limits.shared_bytes_per_block &&
                            can_be_dynamic(kernel, pipeline.strips.tiles);
    if (!is_dynamic) return require_shared_bytes(bytes, kernel, what);
    if (Status status = require_shared_bytes(rest, kernel, "what is beside the tiles needs");
        !status)
      return status;
    const std::int64_t most = limits.shared_bytes_per_block_opt_in;
    if (rest + dynamic_bytes(tiles) > most) {
      return refuse(what + " " + std::to_string(rest + dynamic_bytes(tiles)) +
                    " bytes of shared memory, a block has " + std::to_string(most) + " at most");
    }
    pipeline.dynamic_tiles = std::move(tiles);
    return {};
  }

  // Whether nothing else lies in dynamic shared memory, nor needs the tiles' own form.
  static bool can_be_dynamic(const KernelAnalysis& kernel, const std::vector<Variable>& tiles) {
    const auto launch = kernel.launch();
    if (!launch || !((*launch)->dynamic_shared_bytes == IntegerExpression(0))) return false;
    bool is_used = false;
    walk(kernel.kernel().body, [&](const Stmt& stmt) {
      const auto* declaration = as<Declaration>(stmt);
      is_used = is_used || (declaration != nullptr &&
                            declaration->variable.storage == Storage::dynamic_shared);
    });
    return !is_used && std::all_of(tiles.begin(), tiles.end(), [&](const Variable& tile) {
      return tile.scalar && is_fully_indexed(kernel.kernel(), tile);
    });
  }

  // From sm_80 on.
  static bool copies_asynchronously(const std::string& architecture) {
    const std::size_t digits = architecture.find_first_of("0123456789");
    if (digits == std::string::npos) return false;
    int number = 0;
    std::from_chars(architecture.data() + digits, architecture.data() + architecture.size(),
                    number);
    return number >= 80;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_async_pipeline() {
  return std::make_unique<AsyncPipeline>();
}

}  // namespace regraph::rewrite
