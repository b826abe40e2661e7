// The loops that one thread runs over a row, dealt out to several. Used by cross_thread_reduction.
#pragma once

#include "rewrite/analysis/row_sharing.h"
#include "source/ir.h"

namespace regraph::rewrite {

// The kernel's body with `threads` threads a row and `rows` rows a block, one-dimensional. A row
// has whole warps; `plan` is of this very kernel.
[[nodiscard]] source::Block share_rows(const source::Kernel& kernel, const RowPlan& plan,
                                       int threads, int rows);

}  // namespace regraph::rewrite
