// A candidate that every stage of its evaluation shares: compiled once, loaded once.
#pragma once

#include "base/result.h"
#include "eval/compile/compiled_plan.h"
#include "eval/verify/loaded_plan.h"
#include "kernel/launch_plan.h"

#include <memory>

namespace regraph {

// Immutable once made, so it may be shared between threads. Verifier::prepare makes those that have
// passed admission.
struct PreparedCandidate {
  CompiledPlan compiled;
  LaunchPlan plan;
  verify::LoadedPlan loaded;  // of both
};

// Loads without asking for admission, for kernels that are trusted: the original. Errors as
// verify::load_plan.
[[nodiscard]] Result<std::shared_ptr<const PreparedCandidate>> prepare_trusted(
    CompiledPlan compiled, LaunchPlan plan);

}  // namespace regraph
