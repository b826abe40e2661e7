// Rows of array elements in arrays of the thread's own, whose loops are written out so that they
// live in registers. Used by scalar_replacement.
#pragma once

#include "rewrite/analysis/element_rows.h"

#include <vector>

namespace regraph::rewrite {

// The kernel's body with the rows kept: loaded in front of their statements, stored behind them.
[[nodiscard]] source::Block with_private_rows(const source::Kernel& kernel,
                                              const std::vector<ElementRow>& rows);

}  // namespace regraph::rewrite
