// The kernels of a launch plan, compiled.
#pragma once

#include "base/cancellation.h"
#include "base/hash.h"
#include "base/result.h"
#include "eval/compile/compiler.h"
#include "kernel/launch_plan.h"

#include <memory>
#include <string>
#include <vector>

namespace regraph {

struct CompiledPlan {
  // One a launch, in order, not null; launches of one kernel share theirs.
  std::vector<std::shared_ptr<const CompiledKernel>> launches;

  // One kernel for every launch of `plan`.
  [[nodiscard]] static CompiledPlan of(CompiledKernel kernel, const LaunchPlan& plan);
  // The kernel's own hash; of several launches, that of all of them in order.
  [[nodiscard]] Hash128 machine_code() const;
};

// Compiles each distinct kernel of `plan` once, all from one source, with further `options` of
// NVRTC. Errors as Compiler::compile,
// unsupported for a plan without a launch. Thread-safe.
[[nodiscard]] Result<CompiledPlan> compile_plan(Compiler& compiler, const std::string& source,
                                                const LaunchPlan& plan,
                                                const std::string& architecture,
                                                const Cancellation& cancellation,
                                                const std::vector<std::string>& options = {});

}  // namespace regraph
