// Declarations in front of what needs them, where the one that a file had was left out with its
// host code. Used by extract.cpp.
#pragma once

#include "source/top_level.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::source {

// For each of `names` that a kept function, class or union further down defines: its declaration,
// by the index of the first kept declaration that mentions it, in front of which it belongs.
// `bindings`: kernel templates that are written as plain functions, which are not declared, and
// what binds their parameters in front of them. Nothing for what stands in another namespace.
[[nodiscard]] std::map<std::size_t, std::string> forward_declarations(
    std::string_view text, const std::vector<Token>& tokens,
    const std::vector<TopLevelDeclaration>& declarations, const std::vector<bool>& kept,
    const std::vector<std::string>& names,
    const std::map<const TopLevelDeclaration*, std::string>& bindings);

}  // namespace regraph::source
