#include "source/declared_type.h"

#include <algorithm>
#include <array>

namespace regraph::source {
namespace {

constexpr std::array<std::string_view, 15> kQualifiers = {
    "const",    "volatile",     "static",     "extern",   "constexpr",
    "register", "inline",       "mutable",    "typename", "struct",
    "class",    "__restrict__", "__restrict", "restrict", "__device__"};
// Words that stand in front of an expression, or are no variable's type.
constexpr std::array<std::string_view, 13> kNoTypes = {
    "return", "new",  "delete", "else",  "case",     "goto", "throw",
    "sizeof", "auto", "if",     "while", "operator", "using"};

bool contains(const auto& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

std::optional<DeclaredType> type_of_number(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  const bool floating = !hexadecimal && text.find_first_of(".eE") != std::string_view::npos;
  if (floating) {
    const bool single = text.back() == 'f' || text.back() == 'F';
    return DeclaredType{single ? "float" : "double", 0};
  }
  const std::string_view digits = hexadecimal ? "0123456789abcdefABCDEFxX" : "0123456789'";
  const std::size_t end = text.find_first_not_of(digits);
  const std::string_view suffix = end == std::string_view::npos ? "" : text.substr(end);
  const bool is_unsigned = suffix.find_first_of("uU") != std::string_view::npos;
  const auto longs = std::ranges::count_if(suffix, [](char c) { return c == 'l' || c == 'L'; });
  std::string name = longs == 0 ? "int" : longs == 1 ? "long" : "long long";
  if (is_unsigned) name = "unsigned " + name;
  return DeclaredType{std::move(name), 0};
}

}  // namespace

std::optional<DeclaredType> type_in(std::string_view text, const std::vector<Token>& tokens,
                                    std::size_t first, std::size_t last) {
  DeclaredType type;
  bool after_word = false;
  for (std::size_t token = first; token < last; ++token) {
    const std::string_view word = tokens[token].in(text);
    if (contains(kQualifiers, word) || word == "&") continue;
    if (word == "*") {
      if (type.name.empty()) return {};
      ++type.pointers;
      continue;
    }
    if (type.pointers > 0 || contains(kNoTypes, word)) return {};
    if (word == "<") {
      const std::size_t after = after_angle(text, tokens, token);
      if (type.name.empty() || after > last) return {};
      for (; token < after; ++token) {
        const bool spaced = tokens[token].kind == TokenKind::identifier &&
                            tokens[token - 1].kind == TokenKind::identifier;
        type.name += (spaced ? " " : "") + std::string(tokens[token].in(text));
      }
      --token;
      after_word = false;
      continue;
    }
    if (word == "::") {
      type.name += word;
      after_word = false;
      continue;
    }
    if (tokens[token].kind != TokenKind::identifier) return {};
    if (after_word) type.name += ' ';
    type.name += word;
    after_word = true;
  }
  if (type.name.empty()) return {};
  return type;
}

TypesAt::TypesAt(std::string_view text, const std::vector<Token>& tokens,
                 const std::vector<TopLevelDeclaration>& declarations,
                 const TopLevelDeclaration* inside, std::size_t at)
    : text_(text), tokens_(tokens), declarations_(declarations), inside_(inside), at_(at) {}

std::string_view TypesAt::word(std::size_t token) const {
  return token < tokens_.size() ? tokens_[token].in(text_) : std::string_view();
}

bool TypesAt::is_class(std::string_view name) const {
  return std::ranges::any_of(declarations_, [&](const TopLevelDeclaration& one) {
    return one.kind == DeclarationKind::type && !one.names.empty() && one.names.front() == name;
  });
}

std::optional<DeclaredType> TypesAt::of_expression(std::size_t first, std::size_t last) const {
  if (first >= last) return {};
  if (word(first) == "&") {
    auto type = of_expression(first + 1, last);
    if (type) ++type->pointers;
    return type;
  }
  if (word(first) == "*") {
    auto type = of_expression(first + 1, last);
    if (!type || type->pointers == 0) return {};
    --type->pointers;
    return type;
  }
  if (word(first) == "-" || word(first) == "+") return of_expression(first + 1, last);
  if (word(first) == "(") {
    const std::size_t after = after_bracket(text_, tokens_, first);
    if (after >= last) return of_expression(first + 1, last - 1);
    // A cast, or a product that begins with brackets.
    const auto cast = type_in(text_, tokens_, first + 1, after - 1);
    const bool operand =
        tokens_[after].kind != TokenKind::punctuation || word(after) == "(" || word(after) == "&";
    return cast && operand ? cast : of_expression(first + 1, after - 1);
  }
  if (word(first).ends_with("_cast") && word(first + 1) == "<") {
    const std::size_t after = after_angle(text_, tokens_, first + 1);
    return after < last ? type_in(text_, tokens_, first + 2, after - 1) : std::nullopt;
  }
  if (tokens_[first].kind == TokenKind::number) return type_of_number(word(first));
  if (word(first) == "true" || word(first) == "false") return DeclaredType{"bool", 0};
  if (tokens_[first].kind != TokenKind::identifier) return {};
  if (auto type = of_container(first, last)) return type;
  const std::string_view next = first + 1 < last ? word(first + 1) : std::string_view();
  if (next == "." || next == "->" || next == "::") return {};
  if (next == "(" || next == "{" || next == "<") {
    const std::size_t shape = next == "<" ? after_angle(text_, tokens_, first + 1) : first + 1;
    if (shape >= last || !is_class(word(first))) return {};
    return type_in(text_, tokens_, first, shape);
  }
  auto type = of_variable(word(first));
  for (std::size_t token = first + 1; type && token < last && word(token) == "[";
       token = after_bracket(text_, tokens_, token)) {
    if (type->pointers == 0) return {};
    --type->pointers;
  }
  return type;
}

// v.data(), raw_pointer_cast(v.data()), raw_pointer_cast(&v[0]): vectors of one element type.
std::optional<DeclaredType> TypesAt::of_container(std::size_t first, std::size_t last) const {
  std::size_t at = first;
  while (at + 1 < last && word(at + 1) == "::")
    at += 2;
  const bool raw = word(at) == "raw_pointer_cast" && word(at + 1) == "(";
  if (raw) at += 2;
  if (word(at) == "&") ++at;
  if (at >= last || tokens_[at].kind != TokenKind::identifier) return {};
  const bool has_data = word(at + 1) == "." && (word(at + 2) == "data" || word(at + 2) == "get");
  if (!raw && !has_data) return {};
  const auto container = of_variable(word(at));
  if (!container || container->pointers != 0) return {};
  const std::vector<Token> words = tokenize(container->name);
  const auto open = std::ranges::find_if(
      words, [&](const Token& token) { return token.in(container->name) == "<"; });
  if (open == words.end()) return {};
  std::size_t end = static_cast<std::size_t>(open - words.begin()) + 1;
  const std::size_t begin = end;
  while (end + 1 < words.size() && words[end].in(container->name) != ",")
    ++end;
  auto element = type_in(container->name, words, begin, end);
  if (element) ++element->pointers;
  return element;
}

std::optional<DeclaredType> TypesAt::of_variable(std::string_view name) const {
  if (inside_ != nullptr) {
    if (auto type = declared_in(name, inside_->first, std::min(at_, inside_->last))) return type;
  }
  for (const TopLevelDeclaration& one : declarations_) {
    if (one.kind != DeclarationKind::variable ||
        std::ranges::find(one.names, name) == one.names.end())
      continue;
    if (auto type = declared_in(name, one.first, one.last)) return type;
  }
  return {};
}

// The last declaration counts: it is the nearest, but for scopes that have ended.
std::optional<DeclaredType> TypesAt::declared_in(std::string_view name, std::size_t first,
                                                 std::size_t last) const {
  for (std::size_t token = last; token-- > first;) {
    if (tokens_[token].kind != TokenKind::identifier || word(token) != name) continue;
    if (auto type = declared_at(token, first)) return type;
  }
  return {};
}

std::optional<DeclaredType> TypesAt::declared_at(std::size_t name, std::size_t first) const {
  constexpr std::array<std::string_view, 7> kAfter = {"=", ";", ",", "[", "(", "{", ")"};
  if (!contains(kAfter, word(name + 1))) return {};
  int pointers = 0;
  std::size_t end = name;  // of what is no star
  while (end > first && (word(end - 1) == "*" || word(end - 1) == "&" ||
                         (contains(kQualifiers, word(end - 1)) && word(end - 1) != "static"))) {
    --end;
    if (word(end) == "*") ++pointers;
  }
  // What the declaration begins behind.
  std::size_t begin = end;
  const auto opens = [&](std::size_t token) {
    const std::string_view one = word(token);
    return one == ";" || one == "{" || one == "}" || tokens_[token].kind == TokenKind::directive;
  };
  const bool listed = end > first && word(end - 1) == ",";
  int angles = 0;
  while (begin > first) {
    const std::string_view before = word(begin - 1);
    if (opens(begin - 1)) break;
    if (before == ">") ++angles;
    if (before == "<" && angles-- == 0) return {};
    if (before == "(" || (before == "," && !listed && angles == 0)) {
      // In a body brackets hold expressions, but for those of a loop.
      const bool parameter = inside_ != nullptr && inside_->body && name < *inside_->body;
      const bool loop = before == "(" && begin >= 2 && word(begin - 2) == "for";
      if (!loop && (!parameter || listed)) return {};
      break;
    }
    // Initial values of earlier names of the list.
    if (listed && (before == ")" || before == "]")) {
      int depth = 0;
      for (; begin > first; --begin) {
        const std::string_view bracket = word(begin - 1);
        if (bracket == ")" || bracket == "]") ++depth;
        if ((bracket == "(" || bracket == "[") && --depth == 0) break;
      }
      if (begin == first) return {};
    }
    --begin;
  }
  if (listed) {
    // The first name ends what is common to all.
    std::size_t type_end = begin;
    while (type_end < end && !contains(kAfter, word(type_end)) && word(type_end) != "*")
      type_end = word(type_end) == "<" ? after_angle(text_, tokens_, type_end) : type_end + 1;
    if (type_end < end && word(type_end) != "*" && type_end > begin) --type_end;
    end = type_end;
  }
  auto type = type_in(text_, tokens_, begin, end);
  if (!type) return {};
  type->pointers += pointers;
  for (std::size_t token = name + 1; word(token) == "[";
       token = after_bracket(text_, tokens_, token))
    ++type->pointers;
  return type;
}

}  // namespace regraph::source
