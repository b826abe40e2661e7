// row_kernel: a kernel with a block a row, threads that take its elements in turn and a tree in
// shared memory, is laid out anew.
//
// It is taken for one thread a row (row_serialisation.h; where each warp of a block has a row of
// its own, for blocks of one warp first, warps_as_blocks.h), and the row is dealt out as
// cross_thread_reduction does it: any number of threads, neighbouring elements as vectors, rows in
// registers between the loops, sums by shuffles. Where it is neighbouring rows that lie side by
// side (sums of columns), 32 of them share a block as in slice_reduction. With form=online its
// passes for the largest value and for what exponentials weight become one in between, as by
// online_fusion. With form=elements, for rows that nothing is added up of, threads of the grid take
// an element each, as by parallel_loop, in larger blocks where that is possible. Legal where all of
// them are.
#include "rewrite/steps/macro_step.h"
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/row_serialisation.h"
#include "rewrite/transform/warps_as_blocks.h"
#include "source/polynomial.h"
#include "source/walk.h"

#include <memory>
#include <string>
#include <vector>

namespace regraph::rewrite {
namespace {

class RowKernel final : public StepRewriter {
 public:
  std::string_view id() const override { return "row_kernel"; }

  std::vector<StepParameters> settings() const override {
    std::vector<StepParameters> result;
    for (const char* width : {"4", "1"}) {
      result.push_back({{"threads", "32"}, {"rows", "4"}, {"width", width}});
      for (const char* threads : {"64", "128", "256", "512"})
        result.push_back({{"threads", threads}, {"rows", "1"}, {"width", width}});
    }
    for (const char* threads : {"8", "16", "32"})
      result.push_back({{"threads", threads}, {"rows", kSideBySide}, {"width", "1"}});
    const auto add_online = [&](const char* threads, const char* rows, const char* width) {
      result.push_back(
          {{"threads", threads}, {"rows", rows}, {"width", width}, {"form", "online"}});
    };
    add_online("32", "4", "4");
    for (const char* threads : {"128", "256", "512"})
      add_online(threads, "1", "4");
    add_online("256", "1", "1");
    result.push_back({{"form", kElements}});
    return result;
  }

  Status match(const KernelAnalysis& kernel, const StepParameters& parameters) const override {
    const auto raised = raise(kernel, parameters);
    if (!raised) return raised.error();
    const KernelAnalysis analysis(*raised, kernel.problem(), kernel.limits());
    if (takes_elements(parameters)) {
      const MacroMember first = spreading().front();
      const Status status = find_built_in_step(first.step)->match(analysis, first.settings.front());
      return status ? status : Status(refuse(first.step + ": " + status.error().message));
    }
    if (!are_side_by_side(parameters)) return dealing().match(analysis, dealt(parameters));
    return slicing().match(analysis, sliced(parameters));
  }

  Result<KernelState> apply(const KernelAnalysis& kernel,
                            const StepParameters& parameters) const override {
    const auto raised = raise(kernel, parameters);
    if (!raised) return raised.error();
    const KernelAnalysis analysis(*raised, kernel.problem(), kernel.limits());
    if (takes_elements(parameters)) return apply_members(analysis, spreading());
    return are_side_by_side(parameters) ? slicing().apply(analysis, sliced(parameters))
                                        : dealing().apply(analysis, dealt(parameters));
  }

 private:
  static constexpr const char* kSideBySide = "32";
  static constexpr const char* kElements = "elements";

  static bool takes_elements(const StepParameters& parameters) {
    const auto form = parameters.find("form");
    return form != parameters.end() && form->second == kElements;
  }
  static std::vector<MacroMember> spreading() {
    return {{"parallel_loop", {{{"axis", "x"}, {"loop", "1"}}}},
            {"block_size", {{{"block", "256"}}}, true}};
  }

  static bool are_side_by_side(const StepParameters& parameters) {
    return parameters.at("rows") == kSideBySide;
  }
  // Whether blocks next to each other read elements next to each other.
  static bool reads_side_by_side(const KernelAnalysis& kernel) {
    const KernelForm* form = kernel.direct();
    const std::string block = "blockIdx.x";
    bool found = false;
    source::walk_expressions(form->kernel.body, [&](const source::Expr& expr) {
      const auto* access = source::as<source::Subscript>(expr);
      const auto index =
          access != nullptr ? form->analysis.polynomial(access->index) : std::nullopt;
      if (!index) return;
      const auto further =
          index->substitute(block, source::Polynomial::symbol(block) + source::Polynomial(1));
      const auto stride = (further - *index).constant();
      const auto* base = source::as<source::VariableReference>(access->base);
      found = found || (stride == 1 && base != nullptr && index->symbols().size() > 1 &&
                        !form->analysis.is_written(base->name));
    });
    return found;
  }
  static const StepRewriter& slicing() { return *find_built_in_step("slice_reduction"); }
  static StepParameters sliced(const StepParameters& parameters) {
    return {{"slices", parameters.at("threads")}};
  }

  static const StepRewriter& dealing() { return *find_built_in_step("cross_thread_reduction"); }

  // Rows may be those of blocks, or of the warps of blocks. Errors: of the first.
  static Result<KernelState> raised_by_blocks_or_warps(const KernelAnalysis& kernel) {
    auto raised = serialise_rows(kernel);
    if (raised) return raised;
    const auto warps = with_warps_as_blocks(kernel);
    if (!warps) return raised;
    auto of_warps = serialise_rows(KernelAnalysis(*warps, kernel.problem(), kernel.limits()));
    return of_warps ? std::move(of_warps) : std::move(raised);
  }

  static Result<KernelState> raise(const KernelAnalysis& kernel, const StepParameters& parameters) {
    if (takes_elements(parameters)) return raised_by_blocks_or_warps(kernel);
    for (const char* name : {"threads", "rows", "width"}) {
      if (auto number = integer_parameter(parameters, name); !number) return number.error();
    }
    if (are_side_by_side(parameters) && !reads_side_by_side(kernel)) {
      return refuse("a row's elements lie side by side, not those of neighbouring rows");
    }
    auto raised = raised_by_blocks_or_warps(kernel);
    const auto form = parameters.find("form");
    if (!raised || form == parameters.end()) return raised;
    const KernelAnalysis analysis(*raised, kernel.problem(), kernel.limits());
    return find_built_in_step("online_fusion")->apply(analysis, {{"form", form->second}});
  }

  static StepParameters dealt(const StepParameters& parameters) {
    StepParameters result = {{"threads_per_row", parameters.at("threads")},
                             {"rows_per_block", parameters.at("rows")}};
    if (parameters.at("width") != "1") result["width"] = parameters.at("width");
    return result;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_row_kernel() {
  return std::make_unique<RowKernel>();
}

}  // namespace regraph::rewrite
