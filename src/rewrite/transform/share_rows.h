// The loops that one thread runs over a row, dealt out to several. Used by cross_thread_reduction.
#pragma once

#include "rewrite/analysis/row_sharing.h"
#include "rewrite/analysis/row_vectors.h"
#include "source/ir.h"

#include <optional>

namespace regraph::rewrite {

// The kernel's body with `threads` threads a row and `rows` rows a block, one-dimensional. A row
// has whole warps; `plan` and `vectors` are of this very kernel. With vectors, what follows the
// first shared loop stands there twice: for rows that vectors suit, and for others.
[[nodiscard]] source::Block share_rows(const source::Kernel& kernel, const RowPlan& plan,
                                       const std::optional<RowVectors>& vectors, int threads,
                                       int rows);

}  // namespace regraph::rewrite
