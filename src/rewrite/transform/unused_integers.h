// What nobody asks for any more once indices are made in another way.
#pragma once

#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// Whether nothing is called or read from memory.
[[nodiscard]] bool is_of_integers(const ExprPtr& value);

// The body without declarations of integers that are computed from integers and used nowhere.
[[nodiscard]] Block without_unused_integers(Block body);

}  // namespace regraph::rewrite
