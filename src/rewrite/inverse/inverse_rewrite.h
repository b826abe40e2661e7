// The opposite of a step: takes something good away from a fast kernel. Searches never see these;
// they make kernels to learn from, of which it is known which step leads back.
#pragma once

#include "base/result.h"
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/kernel_state.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::rewrite {

struct InverseRewrite {
  std::string id;              // also part of file names: "no_padding"
  std::string_view undone_by;  // id of the step that leads back, or near to it
  std::string taken_away;      // what the kernel has lost, in words: "the padding of shared rows"
  // Like a step, proves that the kernel still computes the same, or refuses (ErrorCode::refused)
  // with a reason.
  std::function<Result<KernelState>(const KernelAnalysis&)> apply;
};

// All of them, the ones that teach most first. Add yours here.
[[nodiscard]] const std::vector<InverseRewrite>& inverse_rewrites();

// As apply, and refuses what the step of undone_by would not be offered for.
[[nodiscard]] Result<KernelState> apply_inverse(const InverseRewrite& inverse,
                                                const KernelAnalysis& kernel);

// How they are applied, one file each.
[[nodiscard]] Result<KernelState> without_padding(const KernelAnalysis& kernel);
[[nodiscard]] Result<KernelState> with_swapped_axes(const KernelAnalysis& kernel);
[[nodiscard]] Result<KernelState> without_restrict(const KernelAnalysis& kernel);
[[nodiscard]] Result<KernelState> with_divergent_tree(const KernelAnalysis& kernel);
[[nodiscard]] Result<KernelState> without_tiles(const KernelAnalysis& kernel);
[[nodiscard]] Result<KernelState> without_unrolling(const KernelAnalysis& kernel);

}  // namespace regraph::rewrite
