// The manifest of an opened problem, for somebody to go on with.
#pragma once

#include <string>

namespace regraph {

struct OpenedProblem;  // session/opened_problem.h

// The effective manifest, with what was assumed and what is missing as comments.
[[nodiscard]] std::string initial_manifest(const OpenedProblem& opened);

}  // namespace regraph
