// An opened problem as a fleet's workers open it again.
#pragma once

#include "fleet/problem_text.h"
#include "session/opened_problem.h"
#include "session/session_options.h"

#include <string>

namespace regraph {

// For evaluations by the evaluator of that name, with the seed and time limit of `options`. Files
// that the problem's contents come from are read, for their hashes. Errors: io, not_found.
[[nodiscard]] Result<fleet::ProblemText> fleet_problem(const OpenedProblem& opened,
                                                       const std::string& evaluator,
                                                       const OpenOptions& options);

}  // namespace regraph
