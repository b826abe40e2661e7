// vectorize_window: a thread takes W neighbouring elements along x and moves them, and what it
// reads around them, with wide accesses.
//
//   out[x] = in[x - 1] + in[x + 1]      guarded at the ends of rows
// becomes
//   if (the block lies inside && width % 4 == 0) {
//     here = wide load of in[4 * x];
//     result.x = in[4 * x - 1] + here.y;  result.y = here.x + here.z;  ...
//     wide store of result to out[4 * x];
//   } else { the same W elements a thread, a block extent apart, one by one }
//
// It is made of thread_coarsen with order=contiguous, branch_hoist where it applies, loops of
// constant length written out, and of vectors in each block of the code: what is accessed whenever
// the block is run is put together, where distances are known and a vector's first element is at a
// multiple of its size. Sizes that have to be divisible for that are asked when the kernel runs.
// Blocks for which it is not so run the code of thread_coarsen with its usual order, which gives
// the block the same elements and keeps neighbours together.
//
// Legal where these steps are and buffers do not overlap: an array that is not written is loaded
// earlier; one that is written only where nothing else in the block sees when
// (neighbour_vectors.h). Nothing is loaded or stored that was not before. Alignment is what
// 'assume: {align}' grants.
#include "rewrite/analysis/interior.h"
#include "rewrite/steps/macro_step.h"
#include "rewrite/transform/names.h"
#include "rewrite/transform/neighbour_vectors.h"
#include "rewrite/transform/written_out.h"
#include "source/build.h"

#include <memory>
#include <utility>

namespace regraph::rewrite {
namespace {

using source::as;
using source::Block;
using source::Branch;
using source::ExprPtr;
using source::Kernel;

// Beyond, instructions no longer stay in the cache near the multiprocessor.
constexpr int kMostStatementsWrittenOut = 1000;

// A kernel of which the blocks that `inside` holds for run other code.
struct SplitKernel {
  Kernel kernel;
  ExprPtr inside;  // null where it is so for all blocks
  Block code;      // of the blocks inside
};

class VectorizeWindow final : public StepRewriter {
 public:
  std::string_view id() const override { return "vectorize_window"; }
  std::vector<StepParameters> settings() const override {
    return {{{"width", "2"}}, {{"width", "4"}}};
  }

  Status match(const KernelAnalysis& kernel, const StepParameters& parameters) const override {
    const auto state = apply(kernel, parameters);
    return state ? Status() : Status(state.error());
  }

  Result<KernelState> apply(const KernelAnalysis& kernel,
                            const StepParameters& parameters) const override {
    auto width = integer_parameter(parameters, "width");
    if (!width) return width.error();
    if (*width != 2 && *width != 4)
      return fail(ErrorCode::invalid_argument, "'width' must be 2 or 4");
    if (Status status = require_lone_threads(kernel); !status) return status.error();
    auto neighbours = coarsened(kernel, *width, true);
    if (!neighbours) return neighbours.error();
    const auto split = split_kernel(*neighbours, kernel);
    if (!split) return split.error();
    const int alignment = kernel.problem().assume.align;
    Names names(split->kernel);
    auto [wide, condition] = widened(*split, names, *width, alignment);
    if (wide.empty()) {
      return refuse(
          "no neighbouring elements are accessed whenever the same code is run, or none of them "
          "is known to start a vector");
    }
    Block body = std::move(wide);
    if (condition) {
      auto apart = coarsened(kernel, *width, false);
      if (!apart) return apart.error();
      const KernelAnalysis others(*apart, kernel.problem(), kernel.limits());
      auto form = others.single_exit();
      if (!form) return form.error();
      body = {source::branch(condition, std::move(body), names.renamed((*form)->kernel.body))};
    }
    KernelState result = std::move(*neighbours);
    result.unit.kernel = split->kernel;
    result.unit.kernel.body = std::move(body);
    rely_on(result, kNeedsDistinctBuffers);
    rely_on(result, "buffers are aligned to " + std::to_string(alignment) + " bytes");
    return result;
  }

 private:
  static Status require_lone_threads(const KernelAnalysis& kernel) {
    if (!kernel.problem().assume.noalias)
      return refuse("the problem does not grant 'assume: {noalias: true}'");
    if (const Status& status = kernel.transparent(); !status) return status;
    const source::Analysis& analysis = kernel.analysis();
    if (analysis.has_shared() || analysis.has_barrier() || analysis.uses_warp_intrinsics())
      return refuse("the threads of a block work together");
    if (!analysis.unknown_calls().empty()) {
      return refuse("the kernel calls '" + *analysis.unknown_calls().begin() +
                    "', which may write memory");
    }
    return {};
  }

  static Result<KernelState> coarsened(const KernelAnalysis& kernel, int width, bool neighbours) {
    StepParameters coarsen = {{"axis", "x"}, {"factor", std::to_string(width)}};
    if (neighbours) coarsen["order"] = "contiguous";
    return apply_members(
        kernel, {{"thread_coarsen", {coarsen}}, {"branch_hoist", {{{"form", "split"}}}, true}});
  }

  static Result<SplitKernel> split_kernel(const KernelState& state, const KernelAnalysis& kernel) {
    const KernelAnalysis analysis(state, kernel.problem(), kernel.limits());
    auto form = analysis.single_exit();
    if (!form) return form.error();
    SplitKernel result{(*form)->kernel, nullptr, (*form)->kernel.body};
    // The coarsened kernel had no version for blocks inside (thread_coarsen refuses one), so that
    // branch_hoist made it.
    if (!has_interior_version(result.kernel.body)) return result;
    const auto& branch = source::to<Branch>(result.kernel.body.back());
    result.inside = branch.condition;
    result.code = branch.body;
    return result;
  }

  // The code of the blocks inside, and when it may be run. Empty where there are no vectors.
  static std::pair<Block, ExprPtr> widened(const SplitKernel& split, Names& names, int width,
                                           int alignment) {
    const Block code = written_out(split.code, names, kMostStatementsWrittenOut);
    Kernel changed = split.kernel;
    changed.body = code;
    const source::Analysis analysis(changed);
    NeighbourVectors vectors(changed, analysis, names, width, alignment);
    Block wide = vectors.run(code);
    if (vectors.vectors() == 0) return {};
    std::vector<ExprPtr> conditions = vectors.conditions();
    if (split.inside) conditions.insert(conditions.begin(), split.inside);
    return {std::move(wide), source::conjunction(conditions)};
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_vectorize_window() {
  return std::make_unique<VectorizeWindow>();
}

}  // namespace regraph::rewrite
