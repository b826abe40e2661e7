// vectorize_window: a thread takes W neighbouring elements along x and moves them, and what it
// reads around them, with wide accesses.
//
//   out[x] = in[x - 1] + in[x + 1]      guarded at the ends of rows
// becomes
//   if (width % 4 == 0) {
//     if (the thread's neighbourhoods lie inside) {
//       here = wide load of in[4 * x];
//       result.x = in[4 * x - 1] + here.y;  result.y = here.x + here.z;  ...
//       wide store of result to out[4 * x];
//     } else { the thread's elements one by one, guarded }
//   } else { as many elements a thread, a block extent apart, one by one }
//
// It is made of thread_coarsen with order=contiguous, loops of constant length written out, guards
// dropped where a condition of the thread implies them, and of vectors in each block of the code:
// what is accessed whenever the block is run is put together, where distances are known and a
// vector's first element is at a multiple of its size. Sizes that have to be divisible for that are
// asked when the kernel runs. What a window reads in front of a row's first elements, under guards,
// is a vector too where the buffer has it. Where sizes are not divisible, the code is that of
// thread_coarsen with its usual order, which keeps neighbouring threads at neighbouring elements.
//
// Legal where these steps are and buffers do not overlap: an array that is not written is loaded
// earlier; one that is written only where nothing else in the block sees when
// (neighbour_vectors.h). Vectors lie inside their buffers, because all of their elements are
// accessed anyway or because the buffer is made of whole vectors. Alignment is what
// 'assume: {align}' grants.
#include "rewrite/analysis/interior.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/names.h"
#include "rewrite/steps/macro_step.h"
#include "rewrite/transform/guard_removal.h"
#include "rewrite/transform/inside_first.h"
#include "rewrite/transform/neighbour_vectors.h"
#include "rewrite/transform/vector_code.h"
#include "rewrite/transform/written_out_loops.h"
#include "source/build.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {
namespace {

// Code with vectors.
struct WideCode {
  Block body;
  ExprPtr divisible;  // sizes for which it may be run; null: all
};

bool has_elements_for(const Kernel& kernel, int width) {
  return std::any_of(kernel.parameters.begin(), kernel.parameters.end(),
                     [&](const KernelParameter& parameter) {
                       return parameter.is_pointer && parameter.scalar &&
                              VectorShape{*parameter.scalar, width}.bytes() <= kWidestAccess;
                     });
}

class VectorizeWindow final : public TriedStep {
 public:
  std::string_view id() const override { return "vectorize_window"; }
  std::vector<StepParameters> settings() const override {
    return {{{"width", "2"}}, {{"width", "4"}}, {{"width", "8"}}};
  }

  Result<KernelState> apply(const KernelAnalysis& kernel,
                            const StepParameters& parameters) const override {
    auto width = integer_parameter(parameters, "width");
    if (!width) return width.error();
    if (*width != 2 && *width != 4 && *width != 8)
      return fail(ErrorCode::invalid_argument, "'width' must be 2, 4 or 8");
    const Requirements needed = {.distinct_buffers = "", .lone_threads = true, .known_calls = true};
    if (Status status = require(needed, kernel); !status) return status.error();
    const StepParameters neighbours = {
        {"axis", "x"}, {"factor", std::to_string(*width)}, {"order", "contiguous"}};
    auto result = apply_members(kernel, {{"thread_coarsen", {neighbours}}});
    if (!result) return result.error();
    const KernelAnalysis coarsened(*result, kernel.problem(), kernel.limits());
    if (*width > 4 && !has_elements_for(kernel.kernel(), *width))
      return refuse("no array has elements of which one access moves " + std::to_string(*width));
    auto form = coarsened.single_exit();
    if (!form) return form.error();
    Kernel code = (*form)->kernel;
    Names names(code);
    auto wide = widened(coarsened, code, names, *width);
    if (!wide) return wide.error();
    code.body = std::move(wide->body);
    if (wide->divisible) {
      auto others = apart(kernel, *width);
      if (!others) return others.error();
      code.body = {branch(wide->divisible, code.body, names.renamed(*others))};
    }
    result->unit.kernel = std::move(code);
    rely_on(*result, kNeedsDistinctBuffers);
    rely_on_alignment(*result, kernel.problem().assume.align);
    return result;
  }

 private:
  // The code for threads whose elements lie a block extent apart.
  static Result<Block> apart(const KernelAnalysis& kernel, int width) {
    const StepParameters coarsen = {{"axis", "x"}, {"factor", std::to_string(width)}};
    std::vector<MacroMember> members = {{"thread_coarsen", {coarsen}}};
    if (has_blocks_inside(kernel, width))
      members.push_back({"branch_hoist", {{{"form", "split"}}}, true});
    const auto state = apply_members(kernel, members);
    if (!state) return state.error();
    const KernelAnalysis analysis(*state, kernel.problem(), kernel.limits());
    auto form = analysis.single_exit();
    if (!form) return form.error();
    return (*form)->kernel.body;
  }

  // Whether some of a row's blocks, `width` times as long as they were, touch neither of its ends.
  static bool has_blocks_inside(const KernelAnalysis& kernel, int width) {
    constexpr std::uint32_t kBlocksAtEnds = 2;
    const auto& sizes = kernel.problem().bench;
    return std::any_of(sizes.begin(), sizes.end(), [&](const Symbols& symbols) {
      const auto launch = concretise(**kernel.launch(), symbols);
      return launch && launch->grid.x > kBlocksAtEnds * static_cast<std::uint32_t>(width);
    });
  }

  // Of code whose threads have neighbouring elements.
  static Result<WideCode> widened(const KernelAnalysis& coarsened, const Kernel& kernel,
                                  Names& names, int width) {
    Kernel code = kernel;
    code.body = with_loops_written_out(with_inside_first(kernel.body), names);
    const Analysis analysis(code);
    const auto interior = interior_of_threads(code, analysis, (*coarsened.launch())->block);
    if (!interior) return interior.error();
    NeighbourVectors vectors(code, analysis, coarsened.problem(), names, width);
    WideCode result;
    result.body = vectors.run(without_guards(code.body, *interior));
    if (vectors.vectors() == 0) {
      return refuse(
          "no neighbouring elements are accessed whenever the same code is run, or none of them "
          "is known to start a vector");
    }
    result.divisible = conjunction(vectors.conditions());
    if (!interior->conditions.empty()) {
      result.body = {branch(conjunction(interior->conditions), std::move(result.body),
                            seldom_run(names.renamed(kernel.body)))};
    }
    return result;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_vectorize_window() {
  return std::make_unique<VectorizeWindow>();
}

}  // namespace regraph::rewrite
