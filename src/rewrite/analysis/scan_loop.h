// Loops that use what they have accumulated so far: running sums, running maxima. Used by the steps
// that deal such loops out.
//
//   for (i = first; i < limit; ++i) { s += x[i]; out[i] = s; }
//
// Neighbouring iterations are done twice: their terms alone, for what they add to the accumulators,
// and as they stand, when it is known what the accumulators hold by then.
#pragma once

#include "base/result.h"
#include "rewrite/analysis/reduction_loop.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <string>
#include <vector>

namespace regraph::rewrite {

// An element that an iteration reads for its terms, and may keep until it is done as it stands.
struct HeldLoad {
  ExprPtr access;               // as it stands in the loop
  ExprPtr load;                 // the same, with no names of the loop but its counter
  std::vector<ExprPtr> guards;  // under which it may be read; the same for all iterations
  std::string type;
  ScalarType scalar = ScalarType::f32;
};

struct ScanLoop {
  // The loop's body, with nothing but what leads to updates of accumulators: no stores.
  Block terms;
  std::vector<HeldLoad> loads;  // by terms
};

// What it takes to run iterations of the loop apart, given what they do (running_effects_of).
// Error: refused, where what is accumulated follows from what was accumulated before, or an
// iteration reads again what it has stored.
[[nodiscard]] Result<ScanLoop> scan_of(const ForLoop& loop, const LoopEffects& effects,
                                       const Kernel& kernel, const Analysis& analysis);

}  // namespace regraph::rewrite
