// Handlers for runs that look for races (race_detector.h) and for code whose paths may be rotated
// (path_rotation.h).
#pragma once

#include "ptx/decode/execution.h"

namespace regraph::ptx {

// The handler to bind to `record` instead of `usual`, which BlockContext::handlers must hold too.
[[nodiscard]] Handler checked_handler(const Record& record, Handler usual, bool races,
                                      bool may_spin);

}  // namespace regraph::ptx
