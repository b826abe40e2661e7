// tiled_transpose: a permutation of axes goes through square tiles in shared memory.
//
// It is what these steps make of a kernel one after another: delinearize (where the index is flat;
// with two sizes as one, linearize before it where the grid has axes for them), block_size 32x32,
// smem_transpose, smem_pad, and thread_coarsen along y, so that a thread moves several elements of
// a tile. Each of the first ones slows the kernel down by itself. Legal where each of them is.
#include "rewrite/steps/macro_step.h"

#include <memory>
#include <utility>

namespace regraph::rewrite {
namespace {

class TiledTranspose final : public MacroStep {
 public:
  std::string_view id() const override { return "tiled_transpose"; }
  std::vector<StepParameters> settings() const override {
    std::vector<StepParameters> result;
    for (const char* dimensions : {"1", "2"}) {
      for (const char* rows : {"4", "8", "2", "1"})
        result.push_back({{"dimensions", dimensions}, {"rows", rows}});
    }
    return result;
  }

 protected:
  Result<std::vector<MacroMember>> sequence(const KernelAnalysis& kernel,
                                            const StepParameters& parameters) const override {
    auto dimensions = text_parameter(parameters, "dimensions");
    if (!dimensions) return dimensions.error();
    auto rows = integer_parameter(parameters, "rows");
    if (!rows) return rows.error();
    std::vector<MacroMember> members;
    const StepParameters flat = {{"axis", "x"}, {"dimensions", *dimensions}};
    const bool is_flat = find_built_in_step("delinearize")->match(kernel, flat).ok();
    if (is_flat) {
      members.push_back({"delinearize", {flat}});
      members.push_back({"delinearize", {{{"axis", "y"}, {"dimensions", "1"}}}, true});
    } else if (*dimensions != "1") {
      // Two axes of the grid together are what is transposed.
      const bool has_axes = find_built_in_step("linearize")->match(kernel, {}).ok();
      if (!has_axes) return refuse("the index along x is not taken apart by several sizes");
      members.push_back({"linearize", {{}}});
      members.push_back({"delinearize", {flat}});
      members.push_back({"delinearize", {{{"axis", "y"}, {"dimensions", "1"}}}, true});
    }
    const bool has_tile = !is_flat && is_block(kernel, kTile);
    members.push_back({"block_size", {{{"block", kTile}}}, has_tile});
    members.push_back({"smem_transpose", {{}}});
    members.push_back({"smem_pad", {{{"pad", "1"}}}});
    if (*rows > 1) {
      members.push_back({"thread_coarsen", {{{"axis", "y"}, {"factor", std::to_string(*rows)}}}});
    }
    return members;
  }

 private:
  static constexpr const char* kTile = "32x32";
};

}  // namespace

std::unique_ptr<StepRewriter> make_tiled_transpose() {
  return std::make_unique<TiledTranspose>();
}

}  // namespace regraph::rewrite
