// Which namespaces the declarations of a file stand in.
#pragma once

#include "source/top_level.h"

#include <string>
#include <string_view>
#include <vector>

namespace regraph::source {

// "a::b::" of each declaration; namespaces without a name, and linkage blocks, add nothing.
[[nodiscard]] std::vector<std::string> namespaces_of(
    std::string_view text, const std::vector<Token>& tokens,
    const std::vector<TopLevelDeclaration>& declarations);

// "namespace {"
[[nodiscard]] bool is_nameless_namespace(std::string_view text, const std::vector<Token>& tokens,
                                         const TopLevelDeclaration& declaration);

}  // namespace regraph::source
