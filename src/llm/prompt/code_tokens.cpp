#include "llm/prompt/code_tokens.h"

#include "source/lexer.h"
#include "source/top_level.h"

namespace regraph::llm {

using source::Token;
using source::TokenKind;

std::vector<std::string_view> code_tokens(std::string_view text) {
  static constexpr std::string_view kEnd = "\n";
  std::vector<std::string_view> out;
  for (const Token& token : source::tokenize(text)) {
    const std::string_view word = token.in(text);
    if (token.kind != TokenKind::directive) {
      out.push_back(word);
      continue;
    }
    if (source::directive_name(word) == "line") continue;
    out.push_back(word.substr(0, 1));
    const std::string_view rest = word.substr(1);
    for (const Token& part : source::tokenize(rest))
      out.push_back(part.in(rest));
    out.push_back(kEnd);
  }
  return out;
}

bool same_tokens(std::string_view a, std::string_view b) {
  return code_tokens(a) == code_tokens(b);
}

bool is_name(std::string_view token) {
  if (token.empty()) return false;
  const char c = token.front();
  const bool begins = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  // Raw strings begin with a letter too.
  return begins && token.find('"') == std::string_view::npos;
}

}  // namespace regraph::llm
