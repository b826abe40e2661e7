// The copies of a strip loop, taken apart. Used by double_buffer.
#pragma once

#include "base/result.h"
#include "rewrite/analysis/strip_loop.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <cstdint>
#include <vector>

namespace regraph::rewrite {

// One statement of the copies, in two parts: what loads, and what stores to tiles.
struct CopyPart {
  // The loop over what a thread copies, with as many iterations for all threads; null where the
  // statement stands by itself.
  const ForLoop* loop = nullptr;
  std::int64_t count = 1;  // iterations
  // Which threads copy, the same in every strip, over the declarations before it; null: all do.
  Block condition_declarations;
  ExprPtr condition;
  Block declarations;  // index arithmetic of an iteration, that loads and stores need
  Block loads;         // fills registers
  Block stores;        // puts registers into tiles

  // The statements under the part's condition, in its loop.
  [[nodiscard]] Block around(Block body) const;
};

// What is copied for a strip.
struct StripCopies {
  Block declarations;  // index arithmetic at its top, that all parts may need
  std::vector<CopyPart> parts;
};

// The parts of the copies. Error: refused, where a copy cannot be taken apart.
[[nodiscard]] Result<StripCopies> split_copies(const StripLoop& strips, const Analysis& analysis);

}  // namespace regraph::rewrite
