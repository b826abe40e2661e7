#include "llm/prompt/plain_source.h"

#include "base/utf8.h"
#include "source/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace regraph::llm {

namespace {

using source::Token;
using source::TokenKind;

Error at_line(std::string_view text, std::size_t offset, const std::string& what) {
  const auto line = 1 + std::ranges::count(text.substr(0, offset), '\n');
  return fail(ErrorCode::parse, fmt::format("line {} of the code: {}", line, what));
}

std::string with_newlines(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 1);
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\r' && at + 1 < text.size() && text[at + 1] == '\n') continue;
    out += text[at];
  }
  if (!out.empty() && out.back() != '\n') out += '\n';
  return out;
}

Status check_characters(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto c = static_cast<unsigned char>(text[at]);
    if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7F) {
      return at_line(text, at,
                     c == 0 ? "a NUL byte" : fmt::format("the control character 0x{:02x}", c));
    }
    if (text[at] == '?' && text.substr(at, 2) == "??" && at + 2 < text.size() &&
        std::string_view("=/'()!<>-").find(text[at + 2]) != std::string_view::npos) {
      return at_line(text, at, "a trigraph; write the character itself");
    }
  }
  if (const auto wrong = find_invalid_utf8(text)) {
    return at_line(text, *wrong, "a byte that is not UTF-8");
  }
  return {};
}

// Whether a #define begins at `line`.
bool begins_define(std::string_view text, std::size_t line) {
  const std::size_t first = text.find_first_not_of(" \t", line);
  if (first == std::string_view::npos || text[first] != '#') return false;
  const std::size_t word = text.find_first_not_of(" \t", first + 1);
  return word != std::string_view::npos && text.substr(word, 6) == "define";
}

// A continued line is harmless where nothing can be glued together: after a blank or a bracket.
Status check_continuations(std::string_view text) {
  bool in_define = false;  // the physical line before was a continued one
  std::size_t begin = 0;   // of the physical line
  for (std::size_t end = text.find('\n'); end != std::string_view::npos;
       begin = end + 1, end = text.find('\n', begin)) {
    const std::string_view line = text.substr(begin, end - begin);
    const std::size_t last = line.find_last_not_of(" \t");
    if (last == std::string_view::npos || line[last] != '\\') {
      in_define = false;
      continue;
    }
    in_define = in_define || begins_define(text, begin);
    const bool after_whole_token =
        last == 0 || std::string_view(" \t(){};,").find(line[last - 1]) != std::string_view::npos;
    if (!in_define || !after_whole_token || last + 1 != line.size()) {
      return at_line(text, begin,
                     "a backslash at its end; only a #define may be continued, after a blank or "
                     "bracket");
    }
  }
  return {};
}

// The lexer looks for the end of each of these in the rest of the text.
Status check_raw_strings(std::string_view text) {
  constexpr int kMostRawStrings = 64;
  int count = 0;
  for (std::size_t at = text.find("R\""); at != std::string_view::npos;
       at = text.find("R\"", at + 2)) {
    if (++count > kMostRawStrings) return at_line(text, at, "too many raw strings");
  }
  return {};
}

bool is_closed_literal(std::string_view token) {
  const std::size_t quote = token.find_first_of("\"'");
  return quote != std::string_view::npos && token.size() >= quote + 2 &&
         token.back() == token[quote];
}

// Between tokens there are blanks and comments only, in a #define also continued lines.
Status check_gap(std::string_view text, std::size_t begin, std::size_t end, bool in_directive) {
  while (begin < end) {
    const std::string_view rest = text.substr(begin, end - begin);
    if (rest.substr(0, 2) == "//") {
      begin += std::min(rest.find('\n'), rest.size());
    } else if (rest.substr(0, 2) == "/*") {
      const std::size_t close = rest.find("*/", 2);
      if (close == std::string_view::npos) return at_line(text, begin, "a comment does not end");
      begin += close + 2;
    } else {
      const bool continues = in_directive && rest.substr(0, 2) == "\\\n";
      if (rest[0] == '\\' && !continues) return at_line(text, begin, "a stray backslash");
      ++begin;
    }
  }
  return {};
}

// A preprocessor line is one token, found with less care than others: what it holds must not be
// able to end it elsewhere than the compiler would. `offset` is the place behind its "#".
Status check_directive_text(std::string_view text, std::size_t offset, std::size_t end) {
  const std::string_view rest = text.substr(offset, end - offset);
  std::size_t after = 0;
  for (const Token& token : source::tokenize(rest)) {
    const std::string_view word = token.in(rest);
    const std::size_t quote = word.find_first_of("\"'");
    const bool is_raw = quote != std::string_view::npos && quote > 0 && word[quote - 1] == 'R';
    if (token.kind == TokenKind::text && (!is_closed_literal(word) || is_raw)) {
      return at_line(text, offset + token.begin,
                     "a raw literal, or one that does not end, in a preprocessor line");
    }
    if (token.kind == TokenKind::punctuation && word == "\\") {
      return at_line(text, offset + token.begin, "a stray backslash");
    }
    Status gap = check_gap(text, offset + after, offset + token.begin, true);
    if (!gap) return gap;
    after = token.end;
  }
  return check_gap(text, offset + after, end, true);
}

Status check_tokens(std::string_view text) {
  std::size_t after = 0;
  for (const Token& token : source::tokenize(text)) {
    if (Status status = check_gap(text, after, token.begin, false); !status) return status;
    after = token.end;
    const std::string_view word = token.in(text);
    if (token.kind == TokenKind::directive) {
      Status status = check_directive_text(text, token.begin + 1, token.end);
      if (!status) return status;
    }
    if (token.kind == TokenKind::text && !is_closed_literal(word)) {
      return at_line(text, token.begin, "a literal does not end on its line");
    }
    if (token.kind == TokenKind::punctuation && word == "\\") {
      return at_line(text, token.begin, "a stray backslash");
    }
  }
  return check_gap(text, after, text.size(), false);
}

}  // namespace

Result<std::string> plain_source(std::string_view source, std::size_t limit) {
  if (source.size() > limit) {
    return fail(ErrorCode::parse, fmt::format("the code is too long: {} bytes, at most {} are read",
                                              source.size(), limit));
  }
  std::string text = with_newlines(source);
  for (const auto check :
       {check_characters, check_continuations, check_raw_strings, check_tokens}) {
    if (Status status = check(text); !status) return status.error();
  }
  return text;
}

}  // namespace regraph::llm
