// What the threads of a row tell each other in a round of a scan. Used by scan_code.
#pragma once

#include "rewrite/analysis/reduction_loop.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/names.h"

#include <vector>

namespace regraph::rewrite {

// How the iterations of a scan lie on threads.
struct ScanTeam {
  int threads = 0;  // a row
  int columns = 0;  // along x, where the threads of a row are neighbours along y; else 0
  int items = 1;    // neighbouring iterations that a thread takes in a round
  ExprPtr lane;     // the thread's number in its row
};

// An accumulator, and the same operation on other variables of a thread.
struct RunningValue {
  Reduction total;  // what all iterations before the round add up to, and then those of the round
  Reduction part;   // what the thread's items add up to
  Reduction here;   // what there is when the thread's items begin
  // What a part begins with: a value that changes nothing.
  [[nodiscard]] ExprPtr start() const;
};

// Declares and sets `here` and brings `total` up to date. All threads of the row get there, and
// where a row has several warps, or threads are neighbours along y, all threads of the block: they
// meet at one barrier, and take turns with two sets of slots. `declarations` are for the beginning
// of the kernel.
[[nodiscard]] Block exchange_parts(const std::vector<RunningValue>& values, const ScanTeam& team,
                                   Names& names, Block& declarations);

}  // namespace regraph::rewrite
