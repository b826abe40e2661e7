// tiled_transpose: a permutation of axes goes through square tiles in shared memory.
//
// It is what these steps make of a kernel one after another: delinearize (where the index is flat;
// with two sizes as one, linearize before it where the grid has axes for them), block_size 32x32,
// coalesce_swap where it is the stores that lie side by side, smem_transpose, smem_pad, and
// thread_coarsen along y, so that a thread moves several elements of a tile. Each of the first ones
// slows the kernel down by itself. Legal where each of them is.
#include "rewrite/steps/macro_step.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

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
    if (!is_flat && *dimensions != "1") {
      // Two axes of the grid together are what is transposed.
      const bool has_axes = find_built_in_step("linearize")->match(kernel, {}).ok();
      if (!has_axes) return refuse("the index along x is not taken apart by several sizes");
      members.push_back({"linearize", {{}}});
    }
    if (is_flat || *dimensions != "1") {
      // Along x where its elements lie side by side in what is read, else in what is written.
      auto [x, y] = std::pair<std::string, std::string>(*dimensions, "1");
      if (*dimensions != "1" && stores_lie_together(kernel, members, *dimensions)) std::swap(x, y);
      members.push_back(part("x", x));
      members.push_back(part("y", y));
      members.back().optional = y == "1";
    }
    const bool has_tile = members.empty() && is_block(kernel, kTile);
    members.push_back({"block_size", {{{"block", kTile}}}, has_tile});
    members.push_back({"coalesce_swap", {{}}, true});
    members.push_back({"smem_transpose", {{}}});
    members.push_back({"smem_pad", {{{"pad", "1"}}}});
    if (*rows > 1) {
      members.push_back({"thread_coarsen", {{{"axis", "y"}, {"factor", std::to_string(*rows)}}}});
    }
    return members;
  }

 private:
  static constexpr const char* kTile = "32x32";

  static MacroMember part(const std::string& axis, const std::string& dimensions) {
    return {"delinearize", {{{"axis", axis}, {"dimensions", dimensions}}}};
  }

  // Whether it is the other axis that is made of several sizes: threads in x write side by side
  // then, and those in y read so.
  static bool stores_lie_together(const KernelAnalysis& kernel, std::vector<MacroMember> members,
                                  const std::string& dimensions) {
    members.push_back(part("x", "1"));
    members.push_back(part("y", dimensions));
    const auto state = apply_members(kernel, members);
    if (!state) return false;
    const KernelAnalysis split(*state, kernel.problem(), kernel.limits());
    return find_built_in_step("coalesce_swap")->match(split, {}).ok();
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_tiled_transpose() {
  return std::make_unique<TiledTranspose>();
}

}  // namespace regraph::rewrite
