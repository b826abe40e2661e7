// Candidates judged one after the other, for regraph-score.
#pragma once

#include "cli/program.h"
#include "session/session.h"

namespace regraph::cli {

// Lines of JSON on standard input, {"name", "source", "launch"}, launch being optional; a line for
// each on standard output. A line that cannot be read gets an answer that says so. Returns the exit
// code.
[[nodiscard]] int score_lines(const Program& program, Session& session, const Evaluation& original,
                              ComparisonDepth depth);

}  // namespace regraph::cli
