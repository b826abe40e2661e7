// States and answers from random walks with the built-in rewriter: text to learn rewriting from.
#pragma once

#include "base/cancellation.h"
#include "dataset/collected.h"
#include "dataset/opened_kernel.h"
#include "score/state_registry.h"
#include "session/installation.h"
#include "session/session_error.h"

#include <cstdint>

namespace regraph::dataset {

struct WalkSource {
  KernelSource kernel;
  std::uint64_t seed = 1;
  int walks = 4;
  int depth = 3;  // steps of a walk
  // Share of the walks' steps that ask for all values; the others leave them open.
  double asked_values = 0.3;
  // Executes every answer, and keeps pairs of those that are faster. Else answers are unjudged: the
  // rewriter made them, nobody ran them.
  bool judge = false;
  score::Task task = score::Task::apply;
};

// Each step of a walk draws first a step that applies, then its values, both uniformly, so that
// steps with many settings are not all that is learned. The same source gives the same. Errors: as
// Session::open, interrupted.
[[nodiscard]] Result<Collected, SessionError> collect_walks(const WalkSource& source,
                                                            const Installation& installation,
                                                            const Cancellation& cancellation);

}  // namespace regraph::dataset
