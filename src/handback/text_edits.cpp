#include "handback/text_edits.h"

#include "source/lexer.h"
#include "source/top_level.h"

#include <algorithm>

namespace regraph::handback {

std::string apply_edits(std::string_view text, std::vector<TextEdit> edits) {
  std::ranges::stable_sort(edits, {}, &TextEdit::begin);
  std::string result;
  std::size_t copied = 0;
  for (const TextEdit& edit : edits) {
    result += text.substr(copied, edit.begin - copied);
    result += edit.text;
    copied = edit.end;
  }
  result += text.substr(copied);
  return result;
}

std::string with_line_ends_of(std::string_view like, std::string_view text) {
  const std::size_t first = like.find('\n');
  const bool returns = first != std::string_view::npos && first > 0 && like[first - 1] == '\r';
  std::string result;
  for (const char c : text) {
    if (c == '\r') continue;
    if (c == '\n' && returns) result += '\r';
    result += c;
  }
  return result;
}

std::string indentation_at(std::string_view text, std::size_t byte) {
  const std::size_t newline = byte == 0 ? std::string_view::npos : text.rfind('\n', byte - 1);
  const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  const std::string_view before = text.substr(begin, byte - begin);
  return before.find_first_not_of(" \t") == std::string_view::npos ? std::string(before)
                                                                   : std::string();
}

std::string indented(std::string_view text, std::string_view indentation) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    result += text[at];
    const char next = at + 1 < text.size() ? text[at + 1] : '\n';
    if (text[at] == '\n' && next != '\n' && next != '#') result += indentation;
  }
  return result;
}

std::size_t place_for_includes(std::string_view text) {
  const auto tokens = source::tokenize(text);
  std::size_t place = tokens.empty() ? text.size() : tokens.front().begin;
  int conditionals = 0;
  int braces = 0;
  for (const source::Token& token : tokens) {
    const std::string_view word = token.in(text);
    if (word == "{") ++braces;
    if (word == "}") --braces;
    if (token.kind != source::TokenKind::directive) continue;
    const std::string_view name = source::directive_name(word);
    if (name.starts_with("if")) ++conditionals;
    if (name == "endif") --conditionals;
    if (name != "include" || conditionals > 0 || braces > 0) continue;
    const std::size_t end = text.find('\n', token.end);
    place = end == std::string_view::npos ? text.size() : end + 1;
  }
  return place;
}

}  // namespace regraph::handback
