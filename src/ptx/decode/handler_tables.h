// The handler tables of the sets this build and this processor offer.
#pragma once

#include "ptx/decode/execution.h"
#include "ptx/interpreter.h"

namespace regraph::ptx {

// Returns a table of kHandlers entries; null entries are unsupported operations. `automatic`, and a
// set the processor cannot run, give the best one it can.
[[nodiscard]] const Handler* handler_table(HandlerSet set);

}  // namespace regraph::ptx
