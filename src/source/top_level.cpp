#include "source/top_level.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

namespace regraph::source {
namespace {

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Depth of brackets; alternative branches of the preprocessor begin at the same depth.
class Depth {
 public:
  // Takes one token in; returns the depth after it.
  int take(std::string_view token, TokenKind kind) {
    if (kind == TokenKind::directive) {
      take_directive(directive_name(token));
    } else if (kind == TokenKind::punctuation && token.size() == 1) {
      if (is_one_of(token, {"(", "[", "{"})) ++depth_;
      if (is_one_of(token, {")", "]", "}"})) --depth_;
    }
    return depth_;
  }
  [[nodiscard]] int level() const { return depth_; }

 private:
  void take_directive(std::string_view name) {
    if (name.substr(0, 2) == "if") {
      at_branch_.push_back(depth_);
    } else if (at_branch_.empty()) {
      return;
    } else if (name.substr(0, 2) == "el") {
      depth_ = at_branch_.back();
    } else if (name == "endif") {
      at_branch_.pop_back();
    }
  }

  int depth_ = 0;
  std::vector<int> at_branch_;
};

class Splitter {
 public:
  Splitter(std::string_view text, const std::vector<Token>& tokens)
      : Splitter(text, tokens, object_macros(text, tokens)) {}
  Splitter(std::string_view text, const std::vector<Token>& tokens, ObjectMacros macros)
      : text_(text), tokens_(tokens), macros_(std::move(macros)) {}

  std::vector<TopLevelDeclaration> run() {
    while (at_ < tokens_.size())
      split_one();
    return std::move(declarations_);
  }

 private:
  [[nodiscard]] std::string_view word(std::size_t index) const {
    return index < tokens_.size() ? tokens_[index].in(text_) : std::string_view();
  }
  [[nodiscard]] bool is_identifier(std::size_t index) const {
    return index < tokens_.size() && tokens_[index].kind == TokenKind::identifier;
  }

  void add(DeclarationKind kind, std::size_t last) {
    TopLevelDeclaration declaration;
    declaration.kind = kind;
    declaration.first = at_;
    declaration.last = last;
    declarations_.push_back(std::move(declaration));
    at_ = last;
  }

  void split_one() {
    if (tokens_[at_].kind == TokenKind::directive) return add(DeclarationKind::directive, at_ + 1);
    const std::string_view first = word(at_);
    if (first == "}") return add(DeclarationKind::scope, at_ + 1);
    if (first == ";") return add(DeclarationKind::other, at_ + 1);
    if (const auto open = scope_brace()) return add(DeclarationKind::scope, *open + 1);
    declare();
  }

  // The brace of "namespace a::b {" or of "extern "C" {" when one begins here.
  [[nodiscard]] std::optional<std::size_t> scope_brace() const {
    std::size_t next = at_;
    if (word(next) == "inline") ++next;
    if (word(next) == "namespace") {
      for (++next; is_identifier(next) || word(next) == "::";)
        ++next;
      return word(next) == "{" ? std::optional(next) : std::nullopt;
    }
    const bool linkage = word(next) == "extern" && next + 1 < tokens_.size() &&
                         tokens_[next + 1].kind == TokenKind::text;
    return linkage && word(next + 2) == "{" ? std::optional(next + 2) : std::nullopt;
  }

  // Scans one declaration to its end: a semicolon outside all brackets or the end of a function's
  // body.
  void declare() {
    TopLevelDeclaration found;
    found.first = at_;
    skip_templates(found);
    const std::size_t start = at_;
    bool has_initial_value = false;
    bool has_type_keyword = false;
    Depth depth;
    std::size_t next = start;
    for (; next < tokens_.size(); ++next) {
      const std::string_view token = word(next);
      if (depth.take(token, tokens_[next].kind) < 0) break;  // the end of a scope
      // The level that an opening bracket stands at is the one outside it.
      const int level = depth.level() - (is_one_of(token, {"(", "[", "{"}) ? 1 : 0);
      if (level != 0 || tokens_[next].kind == TokenKind::directive) continue;
      if (token == ";") {
        ++next;
        break;
      }
      if (token == "=" && !follows_operator(next, start)) has_initial_value = true;
      if (is_one_of(token, {"struct", "class", "union", "enum"})) has_type_keyword = true;
      note_specifier(token, found);
      // The last one counts: macros may stand in front of a function.
      const bool follows_name = next > start && is_identifier(next - 1) && !is_attribute(next - 1);
      const bool follows_arguments = next > start && word(next - 1) == ">";
      if (token == "(" && !has_initial_value &&
          (follows_name || follows_arguments || follows_operator(next, start))) {
        found.parameters = next;
      }
      if (token != "{" || has_initial_value) continue;
      if (found.parameters) {
        found.body = next;
        next = after_bracket(text_, tokens_, next);
        break;
      }
    }
    found.last = std::max(next, start + 1);
    classify(found, start, has_type_keyword);
    declarations_.push_back(std::move(found));
    at_ = declarations_.back().last;
  }

  void skip_templates(TopLevelDeclaration& found) {
    while (word(at_) == "template" && word(at_ + 1) == "<") {
      const std::size_t after = after_angle(text_, tokens_, at_ + 1);
      if (after >= tokens_.size()) return;
      if (!found.template_closer) found.template_closer = after - 1;
      at_ = after;
    }
  }

  void note_specifier(std::string_view token, TopLevelDeclaration& found) const {
    if (const auto macro = macros_.find(token); macro != macros_.end()) {
      for (const Token& inner : tokenize(macro->second))
        note_keyword(inner.in(macro->second), found);
    }
    note_keyword(token, found);
  }

  static void note_keyword(std::string_view token, TopLevelDeclaration& found) {
    if (token == "__global__") found.is_global = true;
    if (token == "__device__") found.is_device = true;
    if (token == "__host__") found.is_host = true;
    if (is_one_of(token, {"__constant__", "__managed__"})) found.is_constant_memory = true;
    if (token == "__shared__") found.is_shared = true;
    if (is_one_of(token, {"const", "constexpr"})) found.is_constant = true;
    if (token == "constexpr") found.is_constexpr = true;
    if (token == "extern") found.is_extern = true;
  }

  // Whether only the symbols of an operator's name stand between "operator" and here.
  [[nodiscard]] bool follows_operator(std::size_t index, std::size_t start) const {
    while (index > start && tokens_[index - 1].kind == TokenKind::punctuation &&
           !is_one_of(word(index - 1), {";", "{", "}", "(", ")"}))
      --index;
    return index > start && word(index - 1) == "operator";
  }

  // Whether the identifier takes its parenthesis as an attribute does.
  [[nodiscard]] bool is_attribute(std::size_t index) const {
    return is_one_of(word(index),
                     {"__launch_bounds__", "__maxnreg__", "__cluster_dims__", "__block_size__",
                      "__align__", "alignas", "__attribute__", "__declspec", "decltype", "noexcept",
                      "requires", "__nv_pure__"});
  }

  void classify(TopLevelDeclaration& found, std::size_t start, bool has_type_keyword) {
    const std::string_view first = word(start);
    if (first == "using" && word(start + 1) == "namespace") {
      found.kind = DeclarationKind::using_directive;
    } else if (is_one_of(first, {"typedef", "using", "namespace"})) {
      found.kind = DeclarationKind::alias;
      found.names = alias_names(found, start);
    } else if (is_one_of(first, {"static_assert", "template", ""})) {
      found.kind = DeclarationKind::other;
    } else if (found.parameters) {
      found.kind = DeclarationKind::function;
      found.names = function_names(*found.parameters, start);
    } else if (has_type_keyword && !has_declarator_only(start)) {
      found.kind = DeclarationKind::type;
      found.names = names_before(start, found.last, first == "enum",
                                 {"{", ":", ";", ",", "=", "}", "final", "<"});
    } else {
      found.kind = DeclarationKind::variable;
      found.names = names_before(start, found.last, false, {"=", ";", "[", "{", ",", "("});
    }
  }

  // "struct point origin;": no braces, so a variable.
  [[nodiscard]] bool has_declarator_only(std::size_t start) const {
    std::size_t words = 0;
    for (std::size_t next = start; next < tokens_.size() && word(next) != ";"; ++next) {
      if (word(next) == "{") return false;
      if (is_identifier(next)) ++words;
    }
    return words > 2;
  }

  std::vector<std::string> alias_names(const TopLevelDeclaration& found, std::size_t start) const {
    if (word(start) != "typedef") {
      // "using std::max;" declares max.
      const bool imports = word(start) == "using" && word(start + 2) == "::";
      return {std::string(word(imports ? found.last - 2 : start + 1))};
    }
    // For function pointers, structures and enumerations a superset, which is safe.
    return names_before(start + 1, found.last, true, {";", ",", "[", ")", "}", "="});
  }

  std::vector<std::string> function_names(std::size_t parameters, std::size_t start) const {
    std::vector<std::string> names;
    std::size_t next = parameters;
    if (next > start && word(next - 1) == ">") {  // f<float>(
      while (next > start && word(next) != "<")
        --next;
    }
    while (next > start && (is_identifier(next - 1) || word(next - 1) == "::")) {
      --next;
      if (is_identifier(next)) names.emplace_back(word(next));
      if (word(next - 1) != "::" && word(next) != "::") break;
    }
    for (std::size_t back = start; back < parameters; ++back) {
      if (word(back) == "operator") names.emplace_back("operator");
    }
    return names;
  }

  // Identifiers that stand in front of one of these: outside brackets, or at all levels.
  std::vector<std::string> names_before(std::size_t first, std::size_t last, bool all_levels,
                                        std::initializer_list<std::string_view> followers) const {
    std::vector<std::string> names;
    Depth depth;
    for (std::size_t next = first; next + 1 < last; ++next) {
      const int level = depth.take(word(next), tokens_[next].kind);
      const bool declares = is_identifier(next) && is_one_of(word(next + 1), followers);
      if (declares && (all_levels || level == 0)) names.emplace_back(word(next));
    }
    return names;
  }

  std::string_view text_;
  const std::vector<Token>& tokens_;
  ObjectMacros macros_;
  std::size_t at_ = 0;
  std::vector<TopLevelDeclaration> declarations_;
};

}  // namespace

std::size_t after_bracket(std::string_view text, const std::vector<Token>& tokens,
                          std::size_t open) {
  Depth depth;
  for (std::size_t next = open; next < tokens.size(); ++next) {
    if (depth.take(tokens[next].in(text), tokens[next].kind) <= 0) return next + 1;
  }
  return tokens.size();
}

std::size_t after_angle(std::string_view text, const std::vector<Token>& tokens, std::size_t open) {
  int angles = 0;
  for (std::size_t next = open; next < tokens.size(); ++next) {
    const std::string_view token = tokens[next].in(text);
    if (token == "(" || token == "[" || token == "{") {
      next = after_bracket(text, tokens, next) - 1;
    } else if (token == "<") {
      ++angles;
    } else if (token == ">") {
      if (--angles == 0) return next + 1;
    } else if (token == ">>>") {
      angles -= 3;
      if (angles <= 0) return next + 1;
    } else if (token == ";" || token == "}") {
      break;
    }
  }
  return tokens.size();
}

ObjectMacros object_macros(std::string_view text, const std::vector<Token>& tokens) {
  ObjectMacros macros;
  for (const Token& token : tokens) {
    if (token.kind != TokenKind::directive) continue;
    const std::string_view directive = token.in(text);
    if (directive_name(directive) != "define") continue;
    const std::string_view rest = directive.substr(directive.find("define") + 6);
    const std::vector<Token> words = tokenize(rest);
    if (words.empty() || words[0].kind != TokenKind::identifier) continue;
    const bool takes_arguments = words[0].end < rest.size() && rest[words[0].end] == '(';
    if (!takes_arguments) macros.emplace(words[0].in(rest), rest.substr(words[0].end));
  }
  return macros;
}

std::vector<TopLevelDeclaration> split_top_level(std::string_view text,
                                                 const std::vector<Token>& tokens) {
  return Splitter(text, tokens).run();
}

std::vector<TopLevelDeclaration> split_members(std::string_view text,
                                               const std::vector<Token>& tokens,
                                               const TopLevelDeclaration& type) {
  std::size_t open = type.first;
  while (open < type.last && tokens[open].in(text) != "{")
    ++open;
  if (open == type.last) return {};
  const std::size_t close = std::min(after_bracket(text, tokens, open), type.last) - 1;
  if (close <= open) return {};
  const std::vector<Token> inside(tokens.begin() + static_cast<std::ptrdiff_t>(open) + 1,
                                  tokens.begin() + static_cast<std::ptrdiff_t>(close));
  auto members = Splitter(text, inside, object_macros(text, tokens)).run();
  for (TopLevelDeclaration& member : members) {
    member.first += open + 1;
    member.last += open + 1;
    for (auto* token : {&member.parameters, &member.body, &member.template_closer}) {
      if (*token) **token += open + 1;
    }
  }
  return members;
}

std::string_view directive_name(std::string_view directive) {
  const std::size_t begin = directive.find_first_not_of(" \t", directive.empty() ? 0 : 1);
  if (begin == std::string_view::npos) return {};
  const std::size_t end = directive.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", begin);
  return directive.substr(begin, end == std::string_view::npos ? end : end - begin);
}

}  // namespace regraph::source
