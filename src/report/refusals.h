// Why steps are not proposed, for people.
#pragma once

#include "regraph/expander.h"

#include <map>
#include <string>
#include <vector>

namespace regraph {

// Lines "  STEP  REASON", by step. `refusals` holds "step(parameters)" -> reason. Settings of a
// step with the same reason share a line; a step of which nothing is in `proposals` and whose
// settings have one reason is named without parameters.
[[nodiscard]] std::string refusals_text(const std::map<std::string, std::string>& refusals,
                                        const std::vector<StepProposal>& proposals);

}  // namespace regraph
