// Steps as people write them one after another.
#pragma once

#include "base/result.h"
#include "regraph/expander.h"

#include <string_view>
#include <vector>

namespace regraph {

// Reads "coalesce_swap; thread_coarsen(axis=y, factor=8); ...": each as StepProposal::text() writes
// it, with semicolons or line ends between them; empty entries and what follows a # on its line
// count for nothing. Error (invalid_argument): an entry of another shape, with the entry.
[[nodiscard]] Result<std::vector<StepProposal>> parse_step_list(std::string_view text);

}  // namespace regraph
