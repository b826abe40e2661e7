// The program that a problem was captured from, run once more with a candidate in the kernel's
// place.
#pragma once

#include "base/cancellation.h"
#include "eval/compile/compiled_plan.h"
#include "kernel/candidate.h"
#include "report/program_run.h"
#include "session/installation.h"
#include "session/opened_problem.h"

namespace regraph {

// Runs it on the interpreter as it is, and with the candidate, and compares exit codes and what
// they write. `compiled` is the candidate's, `seconds` what each run may take. Without a verdict,
// `trouble` says why. The program must have been captured (OpenedProblem::capture).
[[nodiscard]] ProgramRunReport check_program(const OpenedProblem& opened,
                                             const Candidate& candidate,
                                             const CompiledPlan& compiled,
                                             const Installation& installation, double seconds,
                                             const Cancellation& cancellation);

}  // namespace regraph
