// What became of steps that were applied and led to nothing usable, for people.
#pragma once

#include "search/outcome.h"

#include <string>
#include <vector>

namespace regraph {

// One line for each state whose evaluation is not correct, in the order they were made, and for
// each that failed its confirmation: "STEP: VERDICT: MESSAGE". Of a compiler's log the first error.
[[nodiscard]] std::vector<std::string> failed_steps(const SearchOutcome& outcome);

}  // namespace regraph
