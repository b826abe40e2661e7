#include "source/template_deduction.h"

#include <algorithm>

namespace regraph::source {
namespace {

// Tokens [first, last) of a parameter without its name and its default.
PassedTokens type_of_parameter(std::string_view text, const std::vector<Token>& tokens,
                               PassedTokens parameter, int& arrays) {
  std::size_t end = parameter.first;
  while (end < parameter.last && tokens[end].in(text) != "=" && tokens[end].in(text) != "[") {
    const bool angle = tokens[end].in(text) == "<";
    end = std::min(angle ? after_angle(text, tokens, end) : end + 1, parameter.last);
  }
  if (end < parameter.last && tokens[end].in(text) == "[") ++arrays;
  const bool named = end > parameter.first + 1 && tokens[end - 1].kind == TokenKind::identifier &&
                     tokens[end - 1].in(text).find("restrict") == std::string_view::npos;
  return {parameter.first, named ? end - 1 : end};
}

class Deduction {
 public:
  explicit Deduction(const std::vector<std::string>& names) : names_(names), found_(names.size()) {}

  // What `wanted` is where `given` is passed for it.
  void match(const DeclaredType& wanted, const DeclaredType& given) {
    if (given.pointers < wanted.pointers) return;
    const DeclaredType rest = {given.name, given.pointers - wanted.pointers};
    const auto at = std::ranges::find(names_, wanted.name);
    if (at != names_.end()) {
      bind(static_cast<std::size_t>(at - names_.begin()), rest.text(), wanted.pointers > 0);
    } else if (rest.pointers == 0) {
      match_lists(wanted.name, given.name);
    }
  }

  std::vector<std::string> take() { return std::move(found_); }

 private:
  // What a pointer leads to is exact; a number may be converted.
  void bind(std::size_t which, std::string value, bool exact) {
    if (exact_.size() < names_.size()) exact_.resize(names_.size());
    if (!found_[which].empty() && (exact_[which] || !exact)) return;
    found_[which] = std::move(value);
    exact_[which] = exact;
  }

  // Box<T, N> and Box<float, 4>.
  void match_lists(const std::string& wanted, const std::string& given) {
    const std::vector<Token> ours = tokenize(wanted);
    const std::vector<Token> theirs = tokenize(given);
    if (ours.size() < 2 || theirs.size() < 2 || ours[0].in(wanted) != theirs[0].in(given)) return;
    if (ours[1].in(wanted) != "<" || theirs[1].in(given) != "<") return;
    const auto one = split_angles(wanted, ours);
    const auto other = split_angles(given, theirs);
    for (std::size_t i = 0; i < one.size() && i < other.size(); ++i) {
      const auto at = std::ranges::find(names_, one[i]);
      if (at != names_.end()) bind(static_cast<std::size_t>(at - names_.begin()), other[i], true);
    }
  }

  static std::vector<std::string> split_angles(const std::string& text,
                                               const std::vector<Token>& tokens) {
    std::vector<std::string> parts(1);
    int depth = 0;
    for (std::size_t token = 2; token + 1 < tokens.size(); ++token) {
      const std::string_view word = tokens[token].in(text);
      if (word == "<" || word == "(") ++depth;
      if (word == ">" || word == ")") --depth;
      if (word == "," && depth == 0) {
        parts.emplace_back();
        continue;
      }
      const bool spaced = tokens[token].kind == TokenKind::identifier &&
                          tokens[token - 1].kind == TokenKind::identifier;
      parts.back() += (spaced ? " " : "") + std::string(word);
    }
    return parts;
  }

  const std::vector<std::string>& names_;
  std::vector<std::string> found_;
  std::vector<bool> exact_;
};

}  // namespace

std::vector<PassedTokens> split_arguments(std::string_view text, const std::vector<Token>& tokens,
                                          std::size_t open) {
  std::vector<PassedTokens> parts;
  const std::size_t after = after_bracket(text, tokens, open);
  std::size_t begin = open + 1;
  std::size_t token = begin;
  while (token + 1 < after) {
    const std::string_view word = tokens[token].in(text);
    if (word == "(" || word == "[" || word == "{") {
      token = after_bracket(text, tokens, token);
    } else if (word == "<" && after_angle(text, tokens, token) < after) {
      token = after_angle(text, tokens, token);
    } else if (word == ",") {
      parts.push_back({begin, token});
      begin = ++token;
    } else {
      ++token;
    }
  }
  if (begin + 1 < after) parts.push_back({begin, after - 1});
  return parts;
}

std::vector<std::string> deduce_template_arguments(std::string_view text,
                                                   const std::vector<Token>& tokens,
                                                   const TopLevelDeclaration& function,
                                                   const std::vector<std::string>& names,
                                                   const std::vector<PassedTokens>& passed,
                                                   const TypesAt& types) {
  Deduction deduction(names);
  if (!function.parameters) return deduction.take();
  const std::vector<PassedTokens> parameters = split_arguments(text, tokens, *function.parameters);
  for (std::size_t i = 0; i < parameters.size() && i < passed.size(); ++i) {
    int arrays = 0;
    const PassedTokens place = type_of_parameter(text, tokens, parameters[i], arrays);
    auto wanted = type_in(text, tokens, place.first, place.last);
    if (!wanted) continue;
    wanted->pointers += arrays;
    if (const auto given = types.of_expression(passed[i].first, passed[i].last))
      deduction.match(*wanted, *given);
  }
  return deduction.take();
}

}  // namespace regraph::source
