// Whether kernels that were made of a sequential function compute what it computes.
#pragma once

#include "base/cancellation.h"
#include "session/opened_problem.h"
#include "session/problem_source.h"
#include "session/session_error.h"

#include <string>
#include <vector>

namespace regraph {

// Compiles the function as it is for this processor, with and without optimisation, runs it on all
// inputs of the verifier's, in limited processes, and compares what it leaves with what the kernels
// leave on the interpreter. Returns notes: what was compared, and how long the function takes here.
// Errors: unusable_kernel (a difference, with place and values; the function fails, or does not
// compile), interrupted, internal.
[[nodiscard]] Result<std::vector<std::string>, SessionError> check_against_function(
    const SequentialSource& source, OpenedProblem& opened, std::uint64_t seed,
    const Cancellation& cancellation);

}  // namespace regraph
