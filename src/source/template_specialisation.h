// What a file says of a kernel template for arguments in particular.
#pragma once

#include "source/top_level.h"

#include <string>
#include <string_view>
#include <vector>

namespace regraph::source {

// "template <> __global__ void scale<float>(...)"
[[nodiscard]] bool is_specialisation(const TopLevelDeclaration& declaration);

// The token of the "<" behind a specialisation's name; its parameters' begin where there is none.
[[nodiscard]] std::size_t arguments_begin(std::string_view text, const std::vector<Token>& tokens,
                                          const TopLevelDeclaration& specialisation);

// The kernel `name` as the file specialises it to these arguments; null: it does not.
[[nodiscard]] const TopLevelDeclaration* specialisation_for(
    std::string_view text, const std::vector<Token>& tokens,
    const std::vector<TopLevelDeclaration>& declarations, const std::string& name,
    const std::vector<std::string>& arguments);

}  // namespace regraph::source
