#include "rewrite/inverse/inverse_rewrite.h"

#include "rewrite/steps/step_rewriter.h"

#include <algorithm>

namespace regraph::rewrite {

const std::vector<const InverseRewrite*>& inverse_rewrites() {
  static const std::vector<std::unique_ptr<InverseRewrite>> kOwned = [] {
    std::vector<std::unique_ptr<InverseRewrite>> all;
    all.push_back(make_swapped_axes());
    all.push_back(make_no_tile());
    all.push_back(make_divergent_tree());
    all.push_back(make_no_padding());
    all.push_back(make_no_restrict());
    all.push_back(make_no_unroll());
    // A warp a block leaves multiprocessors half empty, the largest block leaves them waiting for
    // its slowest warp, and one that is tall has warps touch many rows.
    for (const char* block : {"32", "1024", "2x64"})
      all.push_back(make_bad_block(block));
    return all;
  }();
  static const std::vector<const InverseRewrite*> kAll = [] {
    std::vector<const InverseRewrite*> all;
    all.reserve(kOwned.size());
    for (const auto& inverse : kOwned)
      all.push_back(inverse.get());
    return all;
  }();
  return kAll;
}

Result<KernelState> apply_inverse(const InverseRewrite& inverse, const KernelAnalysis& kernel) {
  auto slower = inverse.apply(kernel);
  if (!slower) return slower;
  const StepRewriter* step = find_built_in_step(inverse.undone_by());
  const KernelAnalysis after(*slower, kernel.problem(), kernel.limits());
  const auto settings = step->settings();
  const bool leads_back = std::ranges::any_of(
      settings, [&](const StepParameters& setting) { return step->match(after, setting).ok(); });
  if (!leads_back)
    return refuse("'" + std::string(inverse.undone_by()) + "' does not apply to the result");
  return slower;
}

}  // namespace regraph::rewrite
