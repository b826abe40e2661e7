// Local variables that nobody reads.
#pragma once

#include "source/ir.h"

namespace regraph::rewrite {

// The body without scalars that are given values, from memory as well, and used in no other way;
// where that needs a call that might do more, they stay.
[[nodiscard]] source::Block without_unused_values(source::Block body);

}  // namespace regraph::rewrite
