// The built-in steps for Triton kernels: other values of what a launcher chooses, and changes of
// the code that a Python program makes (python/regraph_triton/rewrite.py).
#pragma once

#include "eval/compile/compiler.h"
#include "kernel/problem.h"
#include "regraph/expander.h"
#include "triton/kernel_text.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace regraph::triton {

// What the user permits to steps that change results beyond rounding in another order.
struct Permissions {
  bool less_precision = false;  // products of shorter inputs
  bool reordered_sums = true;   // another order of floating-point sums
};

// Every candidate it makes was compiled. Thread-safe.
class TritonExpander final : public Expander {
 public:
  // `compiler` must be one with_triton and outlive this. `rewriter` is rewrite.py, `python` a
  // Python for it.
  TritonExpander(Compiler& compiler, std::string architecture, std::filesystem::path python,
                 std::filesystem::path rewriter, Permissions permissions);

  [[nodiscard]] std::vector<StepProposal> propose(const Candidate& candidate,
                                                  const ExpansionContext& context,
                                                  const Cancellation& cancellation) const override;
  [[nodiscard]] Result<Candidate> apply(const Candidate& candidate, const StepProposal& proposal,
                                        int variant, const ExpansionContext& context,
                                        const Cancellation& cancellation) const override;
  // Those that nobody else claims.
  [[nodiscard]] bool owns(const StepProposal& proposal) const override {
    return !proposal.parameters.contains(kAppliedBy);
  }

 private:
  [[nodiscard]] Result<KernelText> change(const KernelText& text, const StepProposal& proposal,
                                          const Cancellation& cancellation) const;

  Compiler& compiler_;
  const std::string architecture_;
  const std::filesystem::path python_;
  const std::filesystem::path rewriter_;
  const Permissions permissions_;
};

// Whether the constant is the extent of a tile that any power of two may be: it occurs in the grid
// or as the stride of a loop, so that programs or turns make up for it.
[[nodiscard]] bool is_tile(const KernelText& text, const std::string& constant);

// What a candidate relies on after the step beyond what `text` did; empty: nothing. A tile or warps
// of another size add in another order.
[[nodiscard]] std::string assumption_of(const KernelText& text, const StepProposal& step);

// Steps that set a constant, the warps, the stages or the blocks of a cluster, where the device has
// clusters: values next to the present ones, then those of the text's choices.
[[nodiscard]] std::vector<StepProposal> value_proposals(const KernelText& text,
                                                        bool has_clusters = false);

}  // namespace regraph::triton
