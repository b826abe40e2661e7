// Code without the guards that a condition in front of it implies.
#pragma once

#include "rewrite/analysis/interior.h"
#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// The block without the comparisons that the interior implies. It is of the kernel that the
// interior was found in.
[[nodiscard]] Block without_guards(const Block& block, const Interior& interior);

// The block as few threads run it: no loop is written out that does not ask for it.
[[nodiscard]] Block seldom_run(const Block& block);

}  // namespace regraph::rewrite
