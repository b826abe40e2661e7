#include "source/host_code.h"

#include "source/library_headers.h"

#include <algorithm>

namespace regraph::source {
namespace {

bool is_host_directive(std::string_view directive, bool keeps_library_headers) {
  if (directive_name(directive) != "include") return false;
  const std::string_view header = included_header(directive);
  return !is_device_header(header) && !(keeps_library_headers && is_library_header(header));
}

}  // namespace

bool is_host_code(std::string_view text, const std::vector<Token>& tokens,
                  const TopLevelDeclaration& declaration, bool keeps_library_headers) {
  switch (declaration.kind) {
    case DeclarationKind::function:
      return !declaration.is_global && !declaration.is_device && !declaration.is_constexpr &&
             !is_texture(text, tokens, declaration) &&
             !mentions(text, tokens, declaration, "__CUDACC_RTC__");
    case DeclarationKind::variable:
      return !declaration.is_device && !declaration.is_constant_memory && !declaration.is_shared &&
             !declaration.is_constant && !is_texture(text, tokens, declaration);
    case DeclarationKind::using_directive:
      return tokens[declaration.first + 2].in(text) == "std";
    case DeclarationKind::directive:
      return is_host_directive(tokens[declaration.first].in(text), keeps_library_headers);
    default:
      return false;
  }
}

bool is_texture(std::string_view text, const std::vector<Token>& tokens,
                const TopLevelDeclaration& declaration) {
  for (std::size_t token = declaration.first; token + 1 < declaration.last; ++token) {
    if ((tokens[token].in(text) == "texture" || tokens[token].in(text) == "surface") &&
        tokens[token + 1].in(text) == "<") {
      return true;
    }
    if (tokens[token].in(text) == "{" || tokens[token].in(text) == "(") return false;
  }
  return false;
}

std::set<std::string_view> with_macros_of(std::string_view text, const std::vector<Token>& tokens,
                                          std::set<std::string_view> names) {
  for (std::size_t before = 0; before != names.size();) {
    before = names.size();
    for (const Token& token : tokens) {
      if (token.kind != TokenKind::directive) continue;
      const std::string_view directive = token.in(text);
      if (directive_name(directive) != "define") continue;
      const std::string_view rest = directive.substr(directive.find("define") + 6);
      const std::vector<Token> words = tokenize(rest);
      const auto is_name = [&](const Token& inner) { return names.contains(inner.in(rest)); };
      if (words.size() > 1 && std::any_of(words.begin() + 1, words.end(), is_name))
        names.insert(words[0].in(rest));
    }
  }
  return names;
}

bool mentions(std::string_view text, const std::vector<Token>& tokens,
              const TopLevelDeclaration& declaration, std::string_view name) {
  for (std::size_t token = declaration.first; token < declaration.last; ++token) {
    if (tokens[token].in(text) == name) return true;
  }
  return false;
}

}  // namespace regraph::source
