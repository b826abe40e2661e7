// One optimization step as a program transformation on the kernel IR.
#pragma once

#include "base/result.h"
#include "kernel/launch_plan.h"
#include "kernel/problem.h"
#include "regraph/expander.h"
#include "source/ir.h"

#include <string>
#include <string_view>
#include <vector>

namespace regraph::rewrite {

// What a step transforms: the code, how it is launched, and what it has come to rely on.
struct KernelState {
  source::Unit unit;
  LaunchPlan plan;
  std::vector<std::string> assumptions;
};

// Implementations are stateless. A step proves its legality from the code, the launch plan and what
// the problem permits, or refuses (ErrorCode::refused) with a reason a person can act on.
class StepRewriter {
 public:
  virtual ~StepRewriter() = default;
  // Id in the ReGraph.
  [[nodiscard]] virtual std::string_view id() const = 0;
  // Every parameter setting worth trying, in a fixed order; one empty setting for none.
  [[nodiscard]] virtual std::vector<StepParameters> choices() const = 0;
  // Returns the rewritten state; the argument is left alone. Errors: refused; invalid_argument for
  // parameters that are not among the step's.
  [[nodiscard]] virtual Result<KernelState> apply(const KernelState& state,
                                                  const StepParameters& parameters,
                                                  const Problem& problem) const = 0;
};

// All built-in steps, in catalogue order.
[[nodiscard]] const std::vector<const StepRewriter*>& built_in_steps();

// What steps come to rely on, for KernelState::assumptions.
inline constexpr const char* kNeedsDistinctBuffers = "buffers do not overlap";
inline constexpr const char* kReordersSums = "floating-point sums may be reordered";
inline constexpr const char* kApproximates = "single-precision functions may be approximate";

// Notes that the state relies on `assumption`; once is enough.
void rely_on(KernelState& state, const std::string& assumption);

// Shorthand for a refusal.
[[nodiscard]] inline Error refuse(std::string reason) {
  return Error{ErrorCode::refused, std::move(reason)};
}

// Reads an integer parameter; invalid_argument when it is missing or malformed.
[[nodiscard]] Result<int> integer_parameter(const StepParameters& parameters,
                                            const std::string& name);

}  // namespace regraph::rewrite
