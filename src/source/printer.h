// Kernel IR -> CUDA C++ text.
#pragma once

#include "kernel/launch_plan.h"
#include "source/ir.h"

#include <map>
#include <string>

namespace regraph::source {

// Returns the expression with the fewest parentheses that keep its meaning.
[[nodiscard]] std::string print(const ExprPtr& expr);
// Returns the statements, each line indented by `indent` spaces.
[[nodiscard]] std::string print(const Block& block, int indent = 0);
// Returns the kernel's definition.
[[nodiscard]] std::string print(const Kernel& kernel);
// Returns the whole translation unit.
[[nodiscard]] std::string print(const Unit& unit);

// Returns the unit with local names replaced by v0, v1, ... in order of declaration, so that equal
// code with different local names has equal text. For identity only.
[[nodiscard]] std::string canonical_text(const Unit& unit);

// A candidate (source, identity, attached form) from a unit and a plan.
[[nodiscard]] Candidate make_candidate(Unit unit, LaunchPlan plan);

}  // namespace regraph::source
