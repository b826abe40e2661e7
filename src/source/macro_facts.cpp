#include "source/macro_facts.h"

#include "source/top_level.h"

#include <map>

namespace regraph::source {
namespace {

// Behind "#define NAME", its parameters included.
std::string_view macro_rest(std::string_view directive) {
  const std::string_view name = macro_named_by(directive);
  if (name.empty() || directive_name(directive) != "define") return {};
  return directive.substr(static_cast<std::size_t>(name.data() - directive.data()) + name.size());
}

}  // namespace

std::string_view macro_named_by(std::string_view directive) {
  const std::string_view kind = directive_name(directive);
  if (kind != "define" && kind != "undef") return {};
  const auto behind = static_cast<std::size_t>(kind.data() - directive.data()) + kind.size();
  const std::string_view rest = directive.substr(behind);
  const std::vector<Token> words = tokenize(rest);
  return words.empty() ? std::string_view() : words.front().in(rest);
}

bool pastes_tokens(std::string_view directive) {
  return macro_rest(directive).find("##") != std::string_view::npos;
}

std::set<std::string_view> declaring_macros(std::string_view text,
                                            const std::vector<Token>& tokens) {
  std::set<std::string_view> declaring;
  std::vector<std::string_view> open;
  std::map<std::string_view, std::vector<std::string_view>> used_by;
  for (const Token& token : tokens) {
    if (token.kind != TokenKind::directive) continue;
    const std::string_view rest = macro_rest(token.in(text));
    if (rest.empty()) continue;
    const std::string_view name = macro_named_by(token.in(text));
    bool declares = rest.find("##") != std::string_view::npos;
    for (const Token& inner : tokenize(rest)) {
      const std::string_view word = inner.in(rest);
      declares = declares || word == "{" || word == "}" || word == ";";
      if (inner.kind == TokenKind::identifier) used_by[word].push_back(name);
    }
    if (declares && declaring.insert(name).second) open.push_back(name);
  }
  while (!open.empty()) {
    const std::string_view name = open.back();
    open.pop_back();
    for (const std::string_view user : used_by[name]) {
      if (declaring.insert(user).second) open.push_back(user);
    }
  }
  return declaring;
}

}  // namespace regraph::source
