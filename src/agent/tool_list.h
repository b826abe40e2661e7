// The tools as clients see them.
#pragma once

#include "agent/tool.h"

#include <span>
#include <string>

namespace regraph::agent {

[[nodiscard]] std::span<const Tool> tools_of(Interface interface);

// For the model that is to use them: how they go together.
[[nodiscard]] std::string instructions_of(Interface interface);

}  // namespace regraph::agent
