// How often loops are entered, as against gone round.
#pragma once

#include "ptx/decode/control_flow.h"

#include <vector>

namespace regraph::sass {

// By loop of `flow`: the share, 0 to 1, of its passes that come from outside of it. `executions`
// has one entry a block.
[[nodiscard]] std::vector<double> entered_shares(const ptx::ControlFlow& flow,
                                                 const std::vector<double>& executions);

}  // namespace regraph::sass
