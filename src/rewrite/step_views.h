// The ways in which a state is shown to a step: as launches for one image each (outer_blocks.h)
// where the kernel is of that kind, and as it is.
#pragma once

#include "base/result.h"
#include "kernel/device_limits.h"
#include "kernel/problem.h"
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/kernel_state.h"
#include "rewrite/outer_blocks.h"
#include "rewrite/steps/step_rewriter.h"

#include <optional>
#include <vector>

namespace regraph::rewrite {

// One object serves one thread; the arguments must outlive it.
class StepViews {
 public:
  StepViews(const KernelState& state, const Problem& problem, const DeviceLimits& limits);
  StepViews(const StepViews&) = delete;
  StepViews& operator=(const StepViews&) = delete;

  // Whether the step applies to one of the views. Errors: of the first one; internal where the step
  // is at fault.
  [[nodiscard]] Status match(const StepRewriter& step, const StepParameters& parameters) const;
  // What the step makes of the first view that it applies to. Errors as of match.
  [[nodiscard]] Result<KernelState> apply(const StepRewriter& step,
                                          const StepParameters& parameters) const;

 private:
  [[nodiscard]] Status match_view(const StepRewriter& step, const StepParameters& parameters) const;
  [[nodiscard]] Result<KernelState> apply_to_view(const StepRewriter& step,
                                                  const StepParameters& parameters) const;

  std::vector<OuterBlocks> outer_;       // each of the one before
  std::optional<KernelAnalysis> alone_;  // of the last of outer_
  KernelAnalysis whole_;
};

}  // namespace regraph::rewrite
