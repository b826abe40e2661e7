// Loops that fill shared tiles and compute from them, strip by strip. Used by double_buffer and
// slice_k.
//
//   for (int k0 = first; k0 < limit; k0 += D) {
//     COPY      writes tiles, from arrays that are only read
//     barrier
//     USE       reads tiles
//     barrier
//   }
//
// COPY and USE may both stand under one condition, where some threads have no work in some strips.
#pragma once

#include "base/result.h"
#include "source/analysis.h"
#include "source/ir.h"

#include <vector>

namespace regraph::rewrite {

struct StripLoop {
  const source::Stmt* loop = nullptr;
  source::CountedLoop counted;
  source::ExprPtr active;  // the condition of COPY and USE; null: there is none
  source::Block copies;    // COPY as it stands, without the condition
  source::Block use;
  std::vector<source::Variable> tiles;
};

// The kernel's first loop of that shape. Error: refused, with what is in the way.
[[nodiscard]] Result<StripLoop> find_strip_loop(const source::Kernel& kernel,
                                                const source::Analysis& analysis);

// Whether the statement itself assigns to an element of a shared array.
[[nodiscard]] bool stores_to_tile(const source::Stmt& stmt, const source::Analysis& analysis);

}  // namespace regraph::rewrite
