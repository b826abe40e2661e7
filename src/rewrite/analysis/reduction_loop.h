// What one iteration of a loop hands to the next: recognises accumulators, so that iterations may
// be dealt out to threads or to independent accumulators.
#pragma once

#include "base/result.h"
#include "rewrite/analysis/reduction.h"
#include "rewrite/analysis/selection.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace regraph::rewrite {

struct LoopEffects {
  std::vector<Reduction> reductions;
  std::vector<Selection> selections;
  std::set<std::string> stored;  // global arrays written by plain stores
  // Statements of the loop that update accumulators, and which.
  std::map<const Stmt*, std::set<std::string>> updates;
  // Accumulators that the loop also reads otherwise: what they hold so far matters.
  std::set<std::string> running;
};

// Error: refused, when iterations depend on each other in any other way, or do what cannot be
// reordered (barriers, calls for their effect, jumps, stores to shared memory), or accumulators are
// read before the loop is over.
[[nodiscard]] Result<LoopEffects> effects_of(const ForLoop& loop, const Analysis& analysis);
// The same of loops that may read accumulators (`running`).
[[nodiscard]] Result<LoopEffects> running_effects_of(const ForLoop& loop, const Analysis& analysis);

}  // namespace regraph::rewrite
