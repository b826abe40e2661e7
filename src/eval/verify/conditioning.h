// Whether the original's own result is worth comparing with.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "eval/compile/compiler.h"
#include "eval/verify/loaded_plan.h"
#include "kernel/problem.h"

#include <string>

namespace regraph::verify {

// `source`, launched as the problem's original, compiled so that every product is rounded before it
// is added to (--fmad=false): as honest a way to compute it as the usual one. Inputs that make the
// two differ by more than the tolerance make the original ill-conditioned. Errors: unsupported when
// it comes out as the same code; those of compile_plan and load_plan.
[[nodiscard]] Result<LoadedPlan> make_uncontracted(Compiler& compiler, const Problem& problem,
                                                   const std::string& source,
                                                   const std::string& architecture,
                                                   const Cancellation& cancellation);

}  // namespace regraph::verify
