#include "source/forward_declarations.h"

#include "source/host_code.h"

#include <algorithm>
#include <optional>
#include <set>

namespace regraph::source {
namespace {

class Forwarder {
 public:
  Forwarder(std::string_view text, const std::vector<Token>& tokens,
            const std::vector<TopLevelDeclaration>& declarations, const std::vector<bool>& kept,
            const std::map<const TopLevelDeclaration*, std::string>& bindings)
      : text_(text),
        tokens_(tokens),
        declarations_(declarations),
        kept_(kept),
        bindings_(bindings) {}

  void declare(const std::string& name, std::map<std::size_t, std::string>& result) const {
    const auto definition = definition_of(name);
    const auto user = definition ? first_user(name, *definition) : std::nullopt;
    if (!user || scopes_at(*user) != scopes_at(*definition)) return;
    std::string& text = result[*user];
    text += text.empty() ? "" : " ";
    text += declaration_text(declarations_[*definition]);
  }

 private:
  [[nodiscard]] std::string_view word(std::size_t token) const { return tokens_[token].in(text_); }

  [[nodiscard]] std::optional<std::size_t> definition_of(const std::string& name) const {
    for (std::size_t i = 0; i < declarations_.size(); ++i) {
      const TopLevelDeclaration& one = declarations_[i];
      // Members that are defined outside of their class have its name as well.
      if (!kept_[i] || one.names.size() != 1 || one.names.front() != name) continue;
      if (bindings_.contains(&one)) continue;
      if (one.kind == DeclarationKind::function && one.body) return i;
      if (one.kind == DeclarationKind::type && class_key(one)) return i;
    }
    return std::nullopt;
  }

  // The token of "struct", "class" or "union", behind the header of a template.
  [[nodiscard]] std::optional<std::size_t> class_key(const TopLevelDeclaration& type) const {
    const std::size_t first = type.template_closer ? *type.template_closer + 1 : type.first;
    const std::string_view key = word(first);
    const bool is_class = key == "struct" || key == "class" || key == "union";
    return is_class ? std::optional(first) : std::nullopt;
  }

  [[nodiscard]] std::optional<std::size_t> first_user(std::string_view name,
                                                      std::size_t definition) const {
    const auto names = with_macros_of(text_, tokens_, {name});
    for (std::size_t i = 0; i < definition; ++i) {
      const TopLevelDeclaration& one = declarations_[i];
      if (!kept_[i] || one.kind == DeclarationKind::directive) continue;
      if (const auto bound = bindings_.find(&one); bound != bindings_.end()) {
        const std::vector<Token> own = tokenize(bound->second);
        if (std::ranges::any_of(
                own, [&](const Token& each) { return names.contains(each.in(bound->second)); }))
          return i;
      }
      for (std::size_t token = one.first; token < one.last; ++token) {
        if (names.contains(word(token))) return i;
      }
    }
    return std::nullopt;
  }

  // The namespaces and linkage blocks that are open.
  [[nodiscard]] std::vector<std::string> scopes_at(std::size_t declaration) const {
    std::vector<std::string> open;
    for (std::size_t i = 0; i < declaration; ++i) {
      const TopLevelDeclaration& one = declarations_[i];
      if (one.kind != DeclarationKind::scope) continue;
      if (word(one.first) == "}") {
        if (!open.empty()) open.pop_back();
        continue;
      }
      std::string scope;
      for (std::size_t token = one.first; token < one.last; ++token) {
        if (word(token) != "inline") scope += std::string(word(token)) + " ";
      }
      open.push_back(std::move(scope));
    }
    return open;
  }

  // Up to the body, and without default arguments, which are said once.
  [[nodiscard]] std::string declaration_text(const TopLevelDeclaration& definition) const {
    if (definition.kind == DeclarationKind::type) {
      std::size_t name = *class_key(definition);
      while (word(name) != definition.names.front())
        ++name;
      return words(definition.first, name + 1) + ";";
    }
    return words(definition.first, *definition.body) + ";";
  }

  [[nodiscard]] std::string words(std::size_t first, std::size_t last) const {
    std::string result;
    int depth = 0;
    std::optional<int> default_at;  // the depth of the list that the value is in
    for (std::size_t token = first; token < last; ++token) {
      const std::string_view text = word(token);
      if (tokens_[token].kind == TokenKind::directive) continue;
      const bool opens = text == "(" || text == "[" || text == "{" || text == "<";
      const bool closes = text == ")" || text == "]" || text == "}" || text == ">";
      if (default_at && depth == *default_at && (text == "," || closes)) default_at.reset();
      if (opens) ++depth;
      if (closes) --depth;
      if (text == "=" && depth > 0 && !default_at) default_at = depth;
      if (default_at || text == "static") continue;
      const bool is_apart = token > first && tokens_[token].begin > tokens_[token - 1].end;
      if (is_apart && !result.empty()) result += ' ';
      result += text;
    }
    return result;
  }

  std::string_view text_;
  const std::vector<Token>& tokens_;
  const std::vector<TopLevelDeclaration>& declarations_;
  const std::vector<bool>& kept_;
  const std::map<const TopLevelDeclaration*, std::string>& bindings_;
};

}  // namespace

std::map<std::size_t, std::string> forward_declarations(
    std::string_view text, const std::vector<Token>& tokens,
    const std::vector<TopLevelDeclaration>& declarations, const std::vector<bool>& kept,
    const std::vector<std::string>& names,
    const std::map<const TopLevelDeclaration*, std::string>& bindings) {
  std::map<std::size_t, std::string> result;
  if (names.empty()) return result;
  const Forwarder forwarder(text, tokens, declarations, kept, bindings);
  for (const std::string& name : names)
    forwarder.declare(name, result);
  return result;
}

}  // namespace regraph::source
