#include "rewrite/inverse/inverse_rewrite.h"

#include "rewrite/steps/step_rewriter.h"

#include <algorithm>

namespace regraph::rewrite {

namespace {

// A block of extents that suit few kernels. As legal as block_size, which does it and undoes it;
// `block` as that takes it: "32x8".
InverseRewrite bad_block(const std::string& block) {
  static constexpr std::string_view kStep = "block_size";
  return {"block_" + block, kStep, "the block's extents, which are " + block + " now",
          [block](const KernelAnalysis& kernel) {
            return find_built_in_step(kStep)->apply(kernel, {{"block", block}});
          }};
}

}  // namespace

const std::vector<InverseRewrite>& inverse_rewrites() {
  // A warp a block leaves multiprocessors half empty, the largest block leaves them waiting for its
  // slowest warp, and one that is tall has warps touch many rows.
  static const std::vector<InverseRewrite> kAll = {
      {"swapped_axes", "coalesce_swap", "the order of the axes x and y", with_swapped_axes},
      {"no_tile", "smem_tile", "tiles in shared memory", without_tiles},
      {"divergent_tree", "reduce_shuffle", "a tree whose threads lie side by side",
       with_divergent_tree},
      {"no_padding", "smem_pad", "the padding of shared rows", without_padding},
      {"no_restrict", "restrict_ldg", "__restrict__ on pointers", without_restrict},
      {"no_unroll", "loop_unroll", "#pragma unroll on loops", without_unrolling},
      bad_block("32"),
      bad_block("1024"),
      bad_block("2x64"),
  };
  return kAll;
}

Result<KernelState> apply_inverse(const InverseRewrite& inverse, const KernelAnalysis& kernel) {
  auto slower = inverse.apply(kernel);
  if (!slower) return slower;
  const StepRewriter* step = find_built_in_step(inverse.undone_by);
  const KernelAnalysis after(*slower, kernel.problem(), kernel.limits());
  const auto settings = step->settings();
  const bool leads_back = std::ranges::any_of(
      settings, [&](const StepParameters& setting) { return step->match(after, setting).ok(); });
  if (!leads_back)
    return refuse("'" + std::string(inverse.undone_by) + "' does not apply to the result");
  return slower;
}

}  // namespace regraph::rewrite
