// Members that are for the host alone.
#pragma once

#include "source/top_level.h"

#include <cstddef>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace regraph::source {

// Token ranges [first, second) of a class that the device compiler would refuse: functions marked
// __host__ alone, members that use streams, strings or containers of the standard library,
// thread_local variables or one of the names `left_out`, and those that use these, unless they are
// marked __device__.
[[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> host_members(
    std::string_view text, const std::vector<Token>& tokens, const TopLevelDeclaration& type,
    const std::set<std::string_view>& left_out);

// Names that nothing declares any more: functions of the host that are not among those to keep, and
// macros that lead to them or to members that host_members takes out of kept classes.
[[nodiscard]] std::set<std::string_view> names_left_out(
    std::string_view text, const std::vector<Token>& tokens,
    const std::vector<TopLevelDeclaration>& declarations, const std::vector<bool>& keep);

}  // namespace regraph::source
