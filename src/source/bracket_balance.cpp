#include "source/bracket_balance.h"

#include "source/top_level.h"

#include <algorithm>

namespace regraph::source {
namespace {

bool is_closed_text(std::string_view token) {
  const std::size_t quote = token.find_first_of("\"'");
  return quote != std::string_view::npos && token.size() >= quote + 2 &&
         token.back() == token[quote];
}

// Blanks and comments that end.
bool is_plain_gap(std::string_view gap) {
  while (!gap.empty()) {
    if (gap.starts_with("/*")) {
      const std::size_t close = gap.find("*/", 2);
      if (close == std::string_view::npos) return false;
      gap.remove_prefix(close + 2);
    } else if (gap.starts_with("//")) {
      const std::string_view line = gap.substr(0, gap.find('\n'));
      const std::size_t last = line.find_last_not_of(" \t\r");
      if (line[last] == '\\') return false;  // the comment goes on
      gap.remove_prefix(line.size());
    } else if (gap.front() == '\\') {
      return false;
    } else {
      gap.remove_prefix(1);
    }
  }
  return true;
}

}  // namespace

bool is_plain_text(std::string_view text, const std::vector<Token>& tokens) {
  std::size_t after = 0;
  for (const Token& token : tokens) {
    if (!is_plain_gap(text.substr(after, token.begin - after))) return false;
    if (token.kind == TokenKind::text && !is_closed_text(token.in(text))) return false;
    after = token.end;
  }
  return is_plain_gap(text.substr(after));
}

bool BracketBalance::take(std::string_view token, TokenKind kind) {
  if (kind == TokenKind::directive) return take_directive(directive_name(token));
  if (kind != TokenKind::punctuation || token.size() != 1) return true;
  const std::string_view closing = ")]}";
  if (const std::size_t opens = std::string_view("([{").find(token[0]);
      opens != std::string_view::npos) {
    open_ += closing[opens];
  } else if (closing.find(token[0]) != std::string_view::npos) {
    if (open_.empty() || open_.back() != token[0]) return false;
    open_.pop_back();
  }
  return true;
}

bool BracketBalance::take_directive(std::string_view name) {
  if (name.starts_with("if")) {
    at_branch_.push_back(open_.size());
  } else if (name.starts_with("el") || name == "endif") {
    if (at_branch_.empty() || open_.size() < at_branch_.back()) return false;
    if (name == "endif") {
      at_branch_.pop_back();
    } else {
      open_.resize(at_branch_.back());
    }
  }
  return true;
}

}  // namespace regraph::source
