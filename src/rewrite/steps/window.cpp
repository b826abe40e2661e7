// window: a thread produces several rows of a stencil or convolution that follow each other.
//
// It is what these steps make of a kernel one after another: parallel_loop (where a thread walks
// along x, with the threads along y then), delinearize (where the index is flat), restrict_ldg and
// block_size (where they apply), thread_coarsen with order=contiguous, branch_hoist, and
// loop_unroll of loops of constant length, twice where two are nested. Rows that follow each other
// share most of what they read, but the compiler sees that only without guards in between and
// without stores that could change it. With vector=4, vectorize_window comes in the place of
// branch_hoist: the thread takes four columns of each row, too. Legal where each of them is.
#include "rewrite/steps/macro_step.h"
#include "rewrite/steps/parameter_reader.h"

#include <memory>
#include <utility>

namespace regraph::rewrite {
namespace {

class Window final : public MacroStep {
 public:
  std::string_view id() const override { return "window"; }
  std::vector<StepParameters> settings() const override {
    std::vector<StepParameters> result;
    for (const char* block : {"32x8", "64x4", "128x2"}) {
      for (const char* rows : {"4", "8"})
        result.push_back({{"axis", "y"}, {"rows", rows}, {"block", block}});
    }
    for (const char* rows : {"2", "4", "8"})
      result.push_back({{"axis", "y"}, {"rows", rows}, {"block", kKeep}});
    for (const char* rows : {"2", "4", "8"})
      result.push_back({{"axis", "z"}, {"rows", rows}, {"block", kKeep}});
    for (const char* rows : {"4", "8"})
      result.push_back({{"axis", "z"}, {"rows", rows}, {"block", "64x4"}});
    for (const char* block : {"32x8", "64x4", kKeep}) {
      for (const char* rows : {"2", "4"})
        result.push_back({{"axis", "y"}, {"rows", rows}, {"block", block}, {"vector", "4"}});
    }
    for (const char* block : {"32x8", kKeep}) {
      for (const char* rows : {"4", "8"})
        result.push_back({{"axis", "z"}, {"rows", rows}, {"block", block}, {"vector", "4"}});
    }
    return result;
  }

 protected:
  Result<std::vector<MacroMember>> sequence(const KernelAnalysis& kernel,
                                            const StepParameters& parameters) const override {
    ParameterReader reader(parameters);
    const std::string axis = reader.text("axis");
    const std::string rows = reader.text("rows");
    const std::string block = reader.text("block");
    if (!reader.status()) return reader.status().error();
    const StepParameters written_out = {{"factor", "full"}, {"loop", "all"}};
    std::vector<MacroMember> members;
    const MacroMember split{"branch_hoist", {{{"form", "split"}}}};
    const MacroMember rows_apart{
        "delinearize", {{{"axis", "y"}, {"dimensions", "1"}}}, axis == "y"};
    if (find_built_in_step("parallel_loop")->match(kernel, along_rows())) {
      members.push_back({"parallel_loop", {along_rows()}});
      members.push_back(rows_apart);
    } else {
      const auto is_flat = begin_with_flat_index(kernel, kernel, split, members);
      if (!is_flat) return is_flat.error();
      if (*is_flat) members.push_back(rows_apart);
    }
    members.push_back({"restrict_ldg", {{}}, true});
    if (block != kKeep) members.push_back({"block_size", {{{"block", block}}}});
    members.push_back(
        {"thread_coarsen", {{{"axis", axis}, {"factor", rows}, {"order", "contiguous"}}}});
    if (const auto vector = parameters.find("vector"); vector != parameters.end()) {
      members.push_back({"vectorize_window", {{{"width", vector->second}}}});
    } else {
      members.push_back(split);
    }
    members.push_back({"loop_unroll", {written_out}, true});
    members.push_back({"loop_unroll", {written_out}, true});
    return members;
  }

 private:
  static constexpr const char* kKeep = "keep";

  static StepParameters along_rows() { return {{"axis", "x"}, {"old_x", "y"}, {"loop", "1"}}; }
};

}  // namespace

std::unique_ptr<StepRewriter> make_window() {
  return std::make_unique<Window>();
}

}  // namespace regraph::rewrite
