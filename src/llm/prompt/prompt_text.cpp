#include "llm/prompt/prompt_text.h"

#include "base/hash.h"
#include "base/utf8.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>

namespace regraph::llm {

namespace {

bool is_control(char c) {
  return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7F;
}

// The greatest length up to `limit` that does not end within a character.
std::size_t whole_characters(std::string_view text, std::size_t limit) {
  if (limit >= text.size()) return text.size();
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xC0) == 0x80)
    --limit;
  return limit;
}

}  // namespace

std::string clean_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::optional<std::size_t> wrong = find_invalid_utf8(text);
    for (const char c : text.substr(0, wrong.value_or(text.size()))) {
      if (!is_control(c)) out += c;
    }
    if (!wrong) break;
    out += '?';
    text.remove_prefix(*wrong + 1);
  }
  return out;
}

std::string one_line(std::string_view text, std::size_t limit) {
  std::string out;
  for (const char c : clean_text(text)) {
    const bool blank = c == ' ' || c == '\t' || c == '\n';
    if (!blank) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  if (!out.empty() && out.back() == ' ') out.pop_back();
  constexpr std::string_view kCut = "...";
  if (out.size() <= limit) return out;
  out.resize(whole_characters(out, limit < kCut.size() ? 0 : limit - kCut.size()));
  return out + std::string(kCut);
}

std::string cut_text(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string(text);
  std::size_t kept = whole_characters(text, limit);
  const std::size_t line = text.substr(0, kept).rfind('\n');
  // A last line that is most of the text is cut within.
  if (line != std::string_view::npos && line >= kept / 2) kept = line + 1;
  std::string out(text.substr(0, kept));
  if (!out.empty() && out.back() != '\n') out += '\n';
  return out + fmt::format("[... {} bytes left out ...]\n", text.size() - kept);
}

std::string fenced(std::string_view label, std::string_view text, std::size_t limit) {
  std::string content = cut_text(clean_text(text), limit);
  if (content.empty() || content.back() != '\n') content += '\n';
  constexpr std::size_t kMarkerDigits = 12;
  std::string marker;
  std::uint64_t draw = 0;
  do {
    marker = Hasher().add(content).add(draw++).finish().hex().substr(0, kMarkerDigits);
  } while (content.find(marker) != std::string::npos);
  return fmt::format("[begin {0} {1}]\n{2}[end {0} {1}]", label, marker, content);
}

}  // namespace regraph::llm
