// The opposite of a step: takes something good away from a fast kernel. Searches never see these;
// they make kernels to learn from, of which it is known which step leads back.
#pragma once

#include "base/result.h"
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/kernel_state.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::rewrite {

// Implementations are stateless. Like a step, one proves that the kernel still computes the same,
// or refuses (ErrorCode::refused) with a reason.
class InverseRewrite {
 public:
  virtual ~InverseRewrite() = default;
  // Also part of file names: "no_padding".
  [[nodiscard]] virtual std::string id() const = 0;
  // Id of the step that leads back, or near to it.
  [[nodiscard]] virtual std::string_view undone_by() const = 0;
  // What the kernel has lost, in words: "the padding of shared rows".
  [[nodiscard]] virtual std::string taken_away() const = 0;
  [[nodiscard]] virtual Result<KernelState> apply(const KernelAnalysis& kernel) const = 0;
};

// All of them, the ones that teach most first. Add yours here.
[[nodiscard]] const std::vector<const InverseRewrite*>& inverse_rewrites();

// As apply, and refuses what the step of undone_by would not be offered for.
[[nodiscard]] Result<KernelState> apply_inverse(const InverseRewrite& inverse,
                                                const KernelAnalysis& kernel);

// One file each.
[[nodiscard]] std::unique_ptr<InverseRewrite> make_no_padding();
[[nodiscard]] std::unique_ptr<InverseRewrite> make_swapped_axes();
[[nodiscard]] std::unique_ptr<InverseRewrite> make_no_restrict();
[[nodiscard]] std::unique_ptr<InverseRewrite> make_divergent_tree();
[[nodiscard]] std::unique_ptr<InverseRewrite> make_no_tile();
[[nodiscard]] std::unique_ptr<InverseRewrite> make_no_unroll();
// `block` as block_size takes it: "32x8".
[[nodiscard]] std::unique_ptr<InverseRewrite> make_bad_block(std::string block);

}  // namespace regraph::rewrite
