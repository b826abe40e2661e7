// Loops whose iterations may be done by different threads, in any order and at the same time. Used
// by parallel_loop.
#pragma once

#include "affine/iteration_overlap.h"
#include "base/result.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace regraph::rewrite {

// What a loop's iterations do to memory.
struct IterationEffects {
  std::set<std::string> read;     // buffers
  std::set<std::string> written;  // by stores or atomics
  bool rounds = false;            // floating-point atomics: another order rounds differently
};

// Error: refused, with the line and what makes one iteration of the loop depend on another: values
// that are carried, elements that several may touch, effects that have an order. `form` has no
// early returns and no local pointers that could be followed. Of `counted` the counter's name
// counts, which has another value in each iteration. `seen_apart`: it is known that no two of them
// touch an element that one of them writes.
[[nodiscard]] Result<IterationEffects> independent_iterations(const ForLoop& loop,
                                                              const CountedLoop& counted,
                                                              const Analysis& analysis,
                                                              const IterationOverlap& overlap,
                                                              bool seen_apart = false);

}  // namespace regraph::rewrite
