// Which arguments a call or launch leaves a function template to find out: from the types of what
// is passed.
#pragma once

#include "source/declared_type.h"

#include <string>
#include <string_view>
#include <vector>

namespace regraph::source {

// What is passed for a function's parameters: tokens [first, last) of each.
struct PassedTokens {
  std::size_t first = 0;
  std::size_t last = 0;
};

// The arguments in the bracket at `open`, split at its commas.
[[nodiscard]] std::vector<PassedTokens> split_arguments(std::string_view text,
                                                        const std::vector<Token>& tokens,
                                                        std::size_t open);

// The value of each of `names`, the template's parameters, as far as the types of what is passed
// tell it; empty for those that they do not. Parameters of the function may be written T, T*, const
// T&, T[], Box<T, N>.
[[nodiscard]] std::vector<std::string> deduce_template_arguments(
    std::string_view text, const std::vector<Token>& tokens, const TopLevelDeclaration& function,
    const std::vector<std::string>& names, const std::vector<PassedTokens>& passed,
    const TypesAt& types);

}  // namespace regraph::source
