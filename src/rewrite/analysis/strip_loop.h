// Loops that fill shared tiles and compute from them, strip by strip. Used by double_buffer,
// async_pipeline and slice_k.
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
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <cstdint>
#include <vector>

namespace regraph::rewrite {

struct StripLoop {
  const Stmt* loop = nullptr;
  CountedLoop counted;
  ExprPtr active;  // the condition of COPY and USE; null: there is none
  Block copies;    // COPY as it stands, without the condition
  Block use;
  std::vector<Variable> tiles;

  // Bytes that the tiles take.
  [[nodiscard]] std::int64_t bytes() const;
};

// The kernel's first loop of that shape. Error: refused, with what is in the way.
[[nodiscard]] Result<StripLoop> find_strip_loop(const Kernel& kernel, const Analysis& analysis);

// Whether the statement gives a name to index arithmetic, once.
[[nodiscard]] bool is_index_arithmetic(const Stmt& stmt, const Analysis& analysis);
// Whether the statement itself assigns to an element of a shared array.
[[nodiscard]] bool stores_to_tile(const Stmt& stmt, const Analysis& analysis);

}  // namespace regraph::rewrite
