// Rows of softmax-weighted sums in the form that the steps for attention begin with: a thread a
// row, whose loop is online (analysis/online_updates.h).
#pragma once

#include "base/result.h"
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/forms/kernel_state.h"
#include "rewrite/steps/macro_step.h"

#include <memory>
#include <vector>

namespace regraph::rewrite {

// Whether a loop of the kernel scales its sums when the largest value so far grows.
[[nodiscard]] bool is_online(const KernelAnalysis& kernel);

// Refuses what no step makes online, at little cost: most kernels have no such loops.
[[nodiscard]] Status require_online_sums(const KernelAnalysis& kernel);

// The members that make it online: none where it is.
[[nodiscard]] std::vector<MacroMember> online_members(const KernelAnalysis& kernel);

// A block a row as one thread a row; null where threads share nothing. Error: refused, for kernels
// with tiles already, and for blocks of another kind.
[[nodiscard]] Result<std::shared_ptr<const KernelState>> serialised_rows(
    const KernelAnalysis& kernel);

// All of it. Error: refused.
[[nodiscard]] Result<KernelState> online_rows(const KernelAnalysis& kernel);

}  // namespace regraph::rewrite
