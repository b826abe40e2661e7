// How deep a body's tree is.
#pragma once

#include "source/statements.h"

namespace regraph::source {

// Whoever walks a tree calls itself once a level, on stacks of 8 MiB and less. People and programs
// write a few hundred.
inline constexpr int kMostNesting = 2000;

// Levels of the deepest statement or expression. Calls itself once a level, too.
[[nodiscard]] int nesting_of(const Block& body);

}  // namespace regraph::source
