// parallel_nest: two loops of a nest become threads at once.
//
// It is what these steps make of a kernel one after another. form=flat: parallel_loop with axis=x,
// twice, so that a thread's place is one number. form=axes: parallel_loop with axis=y for the outer
// loop, and with axis=x and old_x=z for the inner one. form=tiles: the same, then thread_coarsen
// along y and smem_tile, for many small products. Threads that take the outer loop alone still
// touch memory far apart, so that no search that looks one step ahead goes on there. Legal where
// each of them is.
#include "rewrite/steps/macro_step.h"

#include <memory>
#include <utility>

namespace regraph::rewrite {
namespace {

constexpr const char* kLoopStep = "parallel_loop";

// The tile of a strip; longer strips first, by vectors where that is possible.
std::vector<StepParameters> tile_settings() {
  std::vector<StepParameters> result;
  for (const char* depth : {"16", "8"}) {
    const StepParameters plain = {{"loop", "1"}, {"depth", depth}};
    StepParameters vectors = plain;
    vectors["copy"] = "vector";
    result.push_back(std::move(vectors));
    result.push_back(plain);
  }
  return result;
}

class ParallelNest final : public MacroStep {
 public:
  std::string_view id() const override { return "parallel_nest"; }
  std::vector<StepParameters> settings() const override {
    return {{{"form", "flat"}}, {{"form", "axes"}}, {{"form", "tiles"}}};
  }

 protected:
  Result<std::vector<MacroMember>> sequence(const KernelAnalysis& kernel,
                                            const StepParameters& parameters) const override {
    auto form = text_parameter(parameters, "form");
    if (!form) return form.error();
    const StepParameters folded = {{"axis", "x"}, {"loop", "1"}};
    const StepParameters outer = {{"axis", "y"}, {"loop", "1"}};
    const StepParameters inner = {{"axis", "x"}, {"old_x", "z"}, {"loop", "1"}};
    const bool is_flat = *form == "flat";
    if (!is_flat && *form != "axes" && *form != "tiles")
      return fail(ErrorCode::invalid_argument, "'form' must be flat, axes or tiles");
    // Kernels without such a loop are seen at once.
    const Status first = find_built_in_step(kLoopStep)->match(kernel, is_flat ? folded : outer);
    if (!first) return refuse(std::string(kLoopStep) + ": " + first.error().message);

    std::vector<MacroMember> members;
    members.push_back({kLoopStep, {is_flat ? folded : outer}});
    members.push_back({kLoopStep, {is_flat ? folded : inner}});
    if (*form == "tiles") {
      members.push_back(
          {"thread_coarsen", {{{"axis", "y"}, {"factor", "4"}}, {{"axis", "y"}, {"factor", "2"}}}});
      members.push_back({"smem_tile", tile_settings()});
    }
    return members;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_parallel_nest() {
  return std::make_unique<ParallelNest>();
}

}  // namespace regraph::rewrite
