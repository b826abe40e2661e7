// One candidate, case by case: is it right, and is it right again?
#pragma once

#include "base/cancellation.h"
#include "base/thread_budget.h"
#include "eval/verify/loaded_plan.h"
#include "eval/verify/reference.h"
#include "eval/verify/verifier.h"

namespace regraph::verify {

// Runs every case of `reference` on `runner` and compares; the first failure is the verdict. Of
// each size one case runs a second time in the memory of another, and one with blocks and warps in
// another order. `plan` is the candidate's, null when it is run elsewhere than on the interpreter,
// where order and shared memory cannot be chosen. Cases are divided among the threads that `budget`
// has to spare; `launch_threads` work on one launch. `choice`: which cases. All references must
// outlive the call. Thread-safe as far as `reference` and `runner` are.
[[nodiscard]] VerificationResult examine(Reference& reference, const LoadedPlan* plan,
                                         const KernelRunner& runner, ThreadBudget& budget,
                                         int launch_threads, const Cancellation& cancellation,
                                         CaseChoice choice = CaseChoice::all);

// What stands in the way of a launch, as a verdict.
[[nodiscard]] Verdict launch_verdict(ErrorCode code);

}  // namespace regraph::verify
