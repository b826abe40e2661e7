// Which declarations of a file are not for the device compiler. Used by extract.cpp.
#pragma once

#include "source/top_level.h"

#include <set>
#include <string_view>
#include <vector>

namespace regraph::source {

// Whether it is what the device compiler cannot take, whatever it is used for. With
// `keeps_library_headers`, includes of the C++ library, thrust, cub and libcu++ are taken.
[[nodiscard]] bool is_host_code(std::string_view text, const std::vector<Token>& tokens,
                                const TopLevelDeclaration& declaration, bool keeps_library_headers);

// Whether it declares a texture or surface reference, which CUDA 12 has not.
[[nodiscard]] bool is_texture(std::string_view text, const std::vector<Token>& tokens,
                              const TopLevelDeclaration& declaration);

// The names, and the macros whose replacements lead to one of them.
[[nodiscard]] std::set<std::string_view> with_macros_of(std::string_view text,
                                                        const std::vector<Token>& tokens,
                                                        std::set<std::string_view> names);

// Whether the word is among the declaration's tokens.
[[nodiscard]] bool mentions(std::string_view text, const std::vector<Token>& tokens,
                            const TopLevelDeclaration& declaration, std::string_view name);

}  // namespace regraph::source
