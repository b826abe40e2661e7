#include "llm/client/scrub.h"

#include "base/utf8.h"

#include <fmt/format.h>

#include <algorithm>

namespace regraph::llm {
namespace {

constexpr std::string_view kReplacement = "[key]";
constexpr std::size_t kShortestPart = 12;

void replace_all(std::string& text, std::string_view what) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos;) {
    text.replace(at, what.size(), kReplacement);
    at += kReplacement.size();
  }
}

// Also the beginnings of the key: a server may have cut it.
void replace_beginnings(std::string& text, std::string_view key) {
  const std::size_t shortest = std::max(kShortestPart, key.size() / 2);
  if (key.size() <= shortest) return replace_all(text, key);
  const std::string_view beginning = key.substr(0, shortest);
  for (std::size_t at = 0; (at = text.find(beginning, at)) != std::string::npos;) {
    std::size_t length = shortest;
    while (length < key.size() && at + length < text.size() && text[at + length] == key[length])
      ++length;
    text.replace(at, length, kReplacement);
    at += kReplacement.size();
  }
}

std::string with_escaped_slashes(std::string_view key) {
  std::string result;
  for (const char c : key) {
    if (c == '/' || c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string percent_encoded(std::string_view key, const char* format) {
  constexpr std::string_view kPlain = "-._~";
  std::string result;
  for (const char c : key) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       kPlain.find(c) != std::string_view::npos;
    if (plain) {
      result += c;
    } else {
      result += fmt::format(fmt::runtime(format), static_cast<unsigned char>(c));
    }
  }
  return result;
}

}  // namespace

std::string scrub(std::string_view text, std::string_view key) {
  std::string result(text);
  if (key.size() < kShortestSecret) return result;
  replace_beginnings(result, key);
  for (const std::string& form : {with_escaped_slashes(key), percent_encoded(key, "%{:02X}"),
                                  percent_encoded(key, "%{:02x}")}) {
    if (form != key) replace_beginnings(result, form);
  }
  return result;
}

std::string excerpt(std::string_view text, std::size_t limit) {
  std::string result;
  // Twice the limit is enough to look at: runs of spaces hardly fill a message.
  const std::string_view seen = text.substr(0, 2 * limit + 16);
  for (std::size_t at = 0; at < seen.size();) {
    const std::string_view rest = seen.substr(at);
    const std::size_t valid = find_invalid_utf8(rest).value_or(rest.size());
    for (const char c : rest.substr(0, valid)) {
      const bool blank = static_cast<unsigned char>(c) <= 0x20 || c == 0x7F;
      if (!blank) {
        result += c;
      } else if (!result.empty() && result.back() != ' ') {
        result += ' ';
      }
    }
    at += valid;
    if (at < seen.size()) {
      if (!result.empty() && result.back() != ' ') result += ' ';
      ++at;
    }
  }
  const bool cut = result.size() > limit || seen.size() < text.size();
  if (result.size() > limit) {
    std::size_t end = limit;
    while (end > 0 && (static_cast<unsigned char>(result[end]) & 0xC0) == 0x80)
      --end;
    result.resize(end);
  }
  while (result.ends_with(' '))
    result.pop_back();
  return cut ? result + "..." : result;
}

}  // namespace regraph::llm
