// Whether a condition holds for the first thread of a block alone.
#pragma once

#include "affine/constraints.h"
#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// Whether the condition is threadIdx.x == 0, threadIdx.x < 1 or !threadIdx.x, where `polynomial`
// says what the sides are. Of blocks with one row that is their first thread.
[[nodiscard]] bool is_first_thread(const ExprPtr& condition, const PolynomialReader& polynomial);

}  // namespace regraph::rewrite
