// Turns a kernel template into a plain function: what binds its parameters to arguments.
#pragma once

#include "base/result.h"
#include "source/top_level.h"

#include <string>
#include <string_view>
#include <vector>

namespace regraph::source {

struct TemplateInstance {
  std::string bindings;  // "using T = float; constexpr int N = 4; ", on one line
  std::string note;      // where the arguments came from when the request did not give them
  std::vector<std::string> arguments;  // of all parameters, defaults included
};

// The arguments in the "<...>" that opens at a token, each in one spelling of its blanks.
[[nodiscard]] std::vector<std::string> template_arguments(std::string_view text,
                                                          const std::vector<Token>& tokens,
                                                          std::size_t open);

// `kernel` is a template of the file; `wanted` its name, with arguments or without. Without, the
// file's explicit instantiations and launches are searched, then defaults; what stands in a launch
// and is known only there (a constant, an alias or a template parameter of the calling function) is
// replaced by its value. What nothing gives is what such a parameter is most often (float, int for
// an index, 256 threads), which the note says. Errors: invalid_argument (too many arguments),
// unsupported (parameter packs, templates as parameters, several different instances).
[[nodiscard]] Result<TemplateInstance> instantiate_template(
    std::string_view text, const std::vector<Token>& tokens,
    const std::vector<TopLevelDeclaration>& declarations, const TopLevelDeclaration& kernel,
    const std::string& wanted);

}  // namespace regraph::source
