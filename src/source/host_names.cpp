#include "source/host_names.h"

#include <set>
#include <utility>

namespace regraph::source {
namespace {

// Where a definition stands: what is nearer to a launch counts before what is farther.
enum class Scope : std::uint8_t { other_function, file, same_function };

}  // namespace

HostNames::HostNames(std::string_view source, const std::vector<Token>& tokens)
    : source_(source), tokens_(tokens) {
  for (const TopLevelDeclaration& declaration : split_top_level(source_, tokens_)) {
    if (declaration.kind == DeclarationKind::function && declaration.body)
      functions_.push_back(
          {declaration.first, declaration.last,
           declaration.is_global || (declaration.is_device && !declaration.is_host)});
  }
  for (const auto& [name, replacement] : object_macros(source_, tokens_))
    define(0, name, std::string(replacement));
  // name = value; and name(value).
  for (std::size_t at = 1; at + 2 < tokens_.size(); ++at) {
    if (tokens_[at].kind != TokenKind::identifier || word(at - 1) == "." || word(at - 1) == "->")
      continue;
    if (word(at + 1) == "=") {
      define(at, word(at), join(at + 2, end_of_value(at + 2)));
    } else if (is_assignment(at + 1)) {
      define(at, word(at), "");
    } else if ((word(at + 1) == "(" || word(at + 1) == "{") && is_dim3(at)) {
      define(at, word(at), "dim3" + join(at + 1, after_bracket(source_, tokens_, at + 1)));
    }
  }
}

std::string_view HostNames::word(std::size_t token) const {
  return token < tokens_.size() ? tokens_[token].in(source_) : std::string_view();
}

void HostNames::define(std::size_t token, std::string_view name, std::string value) {
  definitions_.push_back({token, name, std::move(value)});
}

const HostNames::Function* HostNames::function_at(std::size_t token) const {
  for (const Function& one : functions_) {
    if (one.first <= token && token < one.last) return &one;
  }
  return nullptr;
}

HostNames::Definitions HostNames::seen_from(std::size_t token) const {
  Definitions definitions;
  const Function* const here = function_at(token);
  for (const Scope scope : {Scope::other_function, Scope::file, Scope::same_function}) {
    Definitions of_scope;
    std::set<std::string_view> several;
    for (const Definition& one : definitions_) {
      const Function* const function = function_at(one.token);
      if (function != nullptr && function->is_device && function != here) continue;
      const Scope its = function == nullptr ? Scope::file
                        : function == here  ? Scope::same_function
                                            : Scope::other_function;
      if (its != scope) continue;
      const auto [at, added] = of_scope.emplace(one.name, one.value);
      if (!added && at->second != one.value) several.insert(one.name);
    }
    for (const std::string_view name : several) {
      const Definition* const last =
          scope == Scope::same_function ? last_before(token, name, *here) : nullptr;
      of_scope.find(name)->second = last != nullptr ? last->value : "";
    }
    for (auto& [name, value] : of_scope)
      definitions.insert_or_assign(name, std::move(value));
  }
  return definitions;
}

// The token of the brace that the token stands in.
std::size_t HostNames::block_around(std::size_t token, const Function& function) const {
  int depth = 0;
  for (std::size_t at = token; at-- > function.first;) {
    if (word(at) == "}") ++depth;
    if (word(at) == "{" && depth-- == 0) return at;
  }
  return function.first;
}

// Whether the statement that sets the name is the branch of a condition or loop without braces.
bool HostNames::is_conditional(std::size_t at) const {
  while (at > 0 && (tokens_[at - 1].kind == TokenKind::identifier || word(at - 1) == "::")) {
    if (word(at - 1) == "else") return true;
    --at;
  }
  return at > 0 && word(at - 1) == ")";
}

// The last thing that the name is set to in front of a token, where every way there sets it and
// nothing that it is made of is set anew in between; null where that is not so.
const HostNames::Definition* HostNames::last_before(std::size_t token, std::string_view name,
                                                    const Function& function) const {
  const auto is_inside = [&](const Definition& one) {
    return function.first <= one.token && one.token < function.last;
  };
  const Definition* last = nullptr;
  for (const Definition& one : definitions_) {
    if (one.name == name && is_inside(one) && one.token < token) last = &one;
  }
  if (last == nullptr || is_conditional(last->token)) return nullptr;
  const std::size_t block = block_around(last->token, function);
  if (after_bracket(source_, tokens_, block) <= token) return nullptr;
  for (const Definition& one : definitions_) {
    if (!is_inside(one) || one.token == last->token) continue;
    // In a loop around the launch that begins behind what was found.
    const bool comes_round =
        one.name == name && one.token > token && block_around(one.token, function) > last->token &&
        block_around(one.token, function) < token &&
        after_bracket(source_, tokens_, block_around(one.token, function)) > token;
    if (comes_round) return nullptr;
    if (one.token < last->token || one.token > token) continue;
    for (const Token& part : tokenize(last->value)) {
      if (part.in(last->value) == one.name) return nullptr;
    }
  }
  return last;
}

// Whether the name is declared here as a dim3: "dim3 name(" or "dim3 other(...), name(".
bool HostNames::is_dim3(std::size_t at) const {
  std::size_t back = at - 1;
  while (word(back) == "," && back > 1 && (word(back - 1) == ")" || word(back - 1) == "}")) {
    int depth = 0;
    for (--back; back > 0; --back) {
      if (word(back) == ")" || word(back) == "}") ++depth;
      if ((word(back) == "(" || word(back) == "{") && --depth == 0) break;
    }
    if (back < 2 || tokens_[back - 1].kind != TokenKind::identifier) return false;
    back -= 2;
  }
  return word(back) == "dim3";
}

bool HostNames::is_assignment(std::size_t at) const {
  const std::string_view first = word(at);
  const bool compound = std::string_view("+-*/%").find(first) != std::string_view::npos &&
                        first.size() == 1 && word(at + 1) == "=";
  const bool counted = (first == "+" || first == "-") && word(at + 1) == first;
  return compound || counted;
}

std::size_t HostNames::end_of_value(std::size_t at) const {
  for (; at < tokens_.size(); ++at) {
    const std::string_view token = word(at);
    if (token == "(" || token == "[" || token == "{") {
      at = after_bracket(source_, tokens_, at) - 1;
    } else if (token == ";" || token == "," || token == ")" || token == "}") {
      break;
    }
  }
  return at;
}

std::string HostNames::join(std::size_t first, std::size_t last) const {
  std::string text;
  for (std::size_t at = first; at < last && at < tokens_.size(); ++at) {
    if (tokens_[at].kind == TokenKind::directive) continue;
    text += (text.empty() ? "" : " ") + std::string(word(at));
  }
  return text;
}

}  // namespace regraph::source
