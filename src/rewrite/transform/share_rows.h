// The loops that one thread runs over a row, dealt out to several. Used by cross_thread_reduction,
// slice_reduction, cross_thread_scan and slice_scan.
#pragma once

#include "rewrite/analysis/row_sharing.h"
#include "rewrite/analysis/row_vectors.h"
#include "rewrite/forms/ir.h"

#include <optional>

namespace regraph::rewrite {

// The threads that share a row.
struct RowTeam {
  int threads = 0;  // a row
  int rows = 0;     // a block
  // The threads of a row are neighbours along y, in a block of `rows` x `threads`: neighbours along
  // x keep rows of their own. Otherwise they are neighbours along x in a block of one dimension, in
  // whole warps or in equal parts of one.
  bool across = false;
  // Neighbouring iterations that a thread takes of loops that use what they have accumulated so
  // far.
  int items = 1;
};

// The kernel's body with a team a row; `plan` and `vectors` are of this very kernel. With vectors,
// what follows the first shared loop stands there twice: for rows that vectors suit, and for
// others. Where the plan has scans, it has no other loops with vectors, whose width is team.items.
[[nodiscard]] Block share_rows(const Kernel& kernel, const RowPlan& plan,
                               const std::optional<RowVectors>& vectors, const RowTeam& team);

}  // namespace regraph::rewrite
