#include "source/namespaces.h"

#include <utility>

namespace regraph::source {

std::vector<std::string> namespaces_of(std::string_view text, const std::vector<Token>& tokens,
                                       const std::vector<TopLevelDeclaration>& declarations) {
  std::vector<std::string> namespaces;
  namespaces.reserve(declarations.size());
  std::vector<std::string> open = {""};
  for (const TopLevelDeclaration& declaration : declarations) {
    const bool closes = tokens[declaration.first].in(text) == "}";
    if (declaration.kind == DeclarationKind::scope && closes) {
      if (open.size() > 1) open.pop_back();
    } else if (declaration.kind == DeclarationKind::scope) {
      std::string inner = open.back();
      for (std::size_t token = declaration.first; token < declaration.last; ++token) {
        const std::string_view word = tokens[token].in(text);
        const bool is_name = tokens[token].kind == TokenKind::identifier && word != "namespace" &&
                             word != "inline" && word != "extern";
        if (is_name) inner += std::string(word) + "::";
      }
      open.push_back(std::move(inner));
    }
    namespaces.push_back(open.back());
  }
  return namespaces;
}

bool is_nameless_namespace(std::string_view text, const std::vector<Token>& tokens,
                           const TopLevelDeclaration& declaration) {
  return declaration.kind == DeclarationKind::scope &&
         tokens[declaration.first].in(text) == "namespace" &&
         declaration.last == declaration.first + 2;
}

}  // namespace regraph::source
