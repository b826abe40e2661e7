// Members that are for the host alone.
#pragma once

#include "source/top_level.h"

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace regraph::source {

// Token ranges [first, second) of a class that the device compiler would refuse: functions marked
// __host__ alone, members that use streams, strings or containers of the standard library, and
// those that use these, unless they are marked __device__.
[[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> host_members(
    std::string_view text, const std::vector<Token>& tokens, const TopLevelDeclaration& type);

}  // namespace regraph::source
