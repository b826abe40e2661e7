// Loops that fill shared tiles and compute from them, strip by strip. Used by double_buffer.
//
//   for (int k0 = first; k0 < limit; k0 += D) {
//     COPY      writes tiles, from arrays that are only read
//     barrier
//     USE       reads tiles
//     barrier
//   }
#pragma once

#include "base/result.h"
#include "source/analysis.h"
#include "source/ir.h"

#include <vector>

namespace regraph::rewrite {

// One statement of the copies, in two parts: what loads, and what stores to tiles.
struct CopyPart {
  // The loop over what a thread copies, with as many iterations for all threads; null where the
  // statement stands by itself.
  const source::ForLoop* loop = nullptr;
  std::int64_t count = 1;      // iterations
  source::Block declarations;  // index arithmetic of an iteration, that loads and stores need
  source::Block loads;         // fills registers
  source::Block stores;        // puts registers into tiles
};

struct StripLoop {
  const source::Stmt* loop = nullptr;
  source::CountedLoop counted;
  source::Block copies;        // COPY as it stands
  source::Block declarations;  // index arithmetic at its top, that all parts may need
  std::vector<CopyPart> parts;
  source::Block use;
  std::vector<source::Variable> tiles;
};

// The kernel's first loop of that shape. Error: refused, with what is in the way.
[[nodiscard]] Result<StripLoop> find_strip_loop(const source::Kernel& kernel,
                                                const source::Analysis& analysis);

}  // namespace regraph::rewrite
