#include "handback/kernel_change.h"

#include "source/top_level.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace regraph::handback {
namespace {

using source::DeclarationKind;
using source::Token;
using source::TokenKind;
using source::TopLevelDeclaration;

struct Code {
  std::string_view text;
  std::vector<Token> tokens;
  std::vector<TopLevelDeclaration> declarations;

  explicit Code(std::string_view whole)
      : text(whole),
        tokens(source::tokenize(whole)),
        declarations(source::split_top_level(whole, tokens)) {}

  [[nodiscard]] std::string joined(std::size_t first, std::size_t last) const {
    std::string result;
    for (std::size_t at = first; at < last; ++at) {
      std::string_view word = tokens[at].in(text);
      while (!word.empty() && (word.back() == '\r' || word.back() == ' '))
        word.remove_suffix(1);
      result += (result.empty() ? "" : " ") + std::string(word);
    }
    return result;
  }
  [[nodiscard]] std::string slice(std::size_t first, std::size_t last) const {
    return std::string(
        text.substr(tokens[first].begin, tokens[last - 1].end - tokens[first].begin));
  }
  [[nodiscard]] bool is_kernel(const TopLevelDeclaration& declaration,
                               const std::string& kernel) const {
    return declaration.kind == DeclarationKind::function && declaration.is_global &&
           declaration.parameters && !declaration.names.empty() &&
           declaration.names.front() == kernel;
  }
  [[nodiscard]] bool has_conditionals(const TopLevelDeclaration& declaration) const {
    for (std::size_t at = declaration.first; at < declaration.last; ++at) {
      if (tokens[at].kind == TokenKind::directive &&
          source::directive_name(tokens[at].in(text)) != "pragma")
        return true;
    }
    return false;
  }
};

Error changes(const std::string& what) {
  return fail(ErrorCode::unsupported, "the winner is more than its kernel: it " + what);
}

// The name that "#define NAME" defines.
std::string macro_name(std::string_view directive) {
  const std::string_view body = directive.substr(directive.find("define") + 6);
  const auto words = source::tokenize(body);
  return words.empty() ? std::string() : std::string(words.front().in(body));
}

Status take_new(const Code& code, const TopLevelDeclaration& declaration, KernelChange& change) {
  const std::string text = code.slice(declaration.first, declaration.last);
  if (declaration.kind == DeclarationKind::directive) {
    const std::string_view name = source::directive_name(text);
    if (name == "include") {
      change.includes.push_back(text);
      return {};
    }
    if (name != "define") return changes(fmt::format("has the directive '{}'", text));
    change.new_names.push_back(macro_name(text));
  } else if (declaration.kind == DeclarationKind::scope) {
    return changes("opens a namespace");
  } else if (declaration.is_global) {
    return changes(fmt::format("has another kernel, '{}'",
                               declaration.names.empty() ? "" : declaration.names.front()));
  }
  change.new_names.insert(change.new_names.end(), declaration.names.begin(),
                          declaration.names.end());
  change.helpers.push_back(text);
  return {};
}

}  // namespace

std::vector<KernelDefinition> find_definitions(std::string_view text, const std::string& kernel) {
  const Code code(text);
  std::vector<KernelDefinition> found;
  for (const TopLevelDeclaration& declaration : code.declarations) {
    if (!code.is_kernel(declaration, kernel)) continue;
    const std::size_t open = *declaration.parameters;
    const std::size_t after = source::after_bracket(text, code.tokens, open);
    if (after < open + 2) continue;  // the file ends there
    KernelDefinition one;
    one.begin = code.tokens[declaration.first].begin;
    one.end = code.tokens[declaration.last - 1].end;
    one.parameters_begin = code.tokens[open].end;
    one.parameters_end = code.tokens[after - 1].begin;
    one.head = std::string(text.substr(one.begin, code.tokens[open].begin - one.begin));
    one.tokens = code.joined(open, declaration.last);
    one.has_body = declaration.body.has_value();
    if (declaration.template_closer) {
      one.is_template = true;
      one.template_list = code.slice(declaration.first + 1, *declaration.template_closer + 1);
    }
    found.push_back(std::move(one));
  }
  return found;
}

std::string without_shared_of_file(const std::string& tokens, std::string_view file) {
  constexpr std::string_view kBody = ") { ";
  const std::size_t body = tokens.find(kBody);
  if (body == std::string::npos) return tokens;
  std::string_view rest = std::string_view(tokens).substr(body + kBody.size());
  const Code code(file);
  for (const TopLevelDeclaration& declaration : code.declarations) {
    if (!declaration.is_shared || declaration.kind != DeclarationKind::variable) continue;
    std::string own;
    for (std::size_t at = declaration.first; at < declaration.last; ++at) {
      const std::string_view word = code.tokens[at].in(file);
      if (word != "static" && word != "inline" && word != "__device__")
        own += std::string(word) + " ";
    }
    if (rest.starts_with(own)) rest.remove_prefix(own.size());
  }
  return tokens.substr(0, body + kBody.size()) + std::string(rest);
}

Result<KernelChange> kernel_change(std::string_view before, std::string_view after,
                                   const std::string& kernel) {
  const Code original(before);
  const Code winner(after);
  KernelChange change;
  std::set<std::string> known;
  std::set<std::string> names;
  for (const TopLevelDeclaration& declaration : original.declarations) {
    if (original.is_kernel(declaration, kernel) && declaration.body) {
      change.original_head = original.joined(*declaration.parameters, declaration.last);
      change.had_conditionals = original.has_conditionals(declaration);
      continue;
    }
    known.insert(original.joined(declaration.first, declaration.last));
    names.insert(declaration.names.begin(), declaration.names.end());
  }
  for (const TopLevelDeclaration& declaration : winner.declarations) {
    if (winner.is_kernel(declaration, kernel)) {
      if (!declaration.body) continue;
      if (!change.definition.empty()) return changes("defines its kernel twice");
      const std::size_t open = *declaration.parameters;
      const std::size_t close = source::after_bracket(after, winner.tokens, open) - 1;
      change.definition = winner.slice(declaration.first, declaration.last);
      change.parameters = std::string(after.substr(
          winner.tokens[open].end, winner.tokens[close].begin - winner.tokens[open].end));
      continue;
    }
    if (known.contains(winner.joined(declaration.first, declaration.last))) continue;
    for (const std::string& name : declaration.names) {
      if (names.contains(name)) return changes(fmt::format("changes '{}'", name));
    }
    if (Status status = take_new(winner, declaration, change); !status) return status.error();
  }
  if (change.definition.empty() || change.original_head.empty())
    return fail(ErrorCode::unsupported,
                fmt::format("the definition of '{}' is not found in the winner", kernel));
  return change;
}

}  // namespace regraph::handback
