#include "llm/prompt/answer_decline.h"

#include "llm/prompt/prompt_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>

namespace regraph::llm {

namespace {

constexpr std::size_t kLongestReason = 300;

// What stands behind "DECLINE:" on a line that begins so; a view into the line.
std::optional<std::string_view> behind_decline(std::string_view line) {
  constexpr std::string_view kMarks = " \t*_#>-";
  const std::size_t first = std::min(line.find_first_not_of(kMarks), line.size());
  line.remove_prefix(first);
  constexpr std::string_view kWord = "decline";
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; };
  if (!std::ranges::equal(line.substr(0, kWord.size()), kWord, {}, lower)) return std::nullopt;
  line.remove_prefix(kWord.size());
  if (!line.empty() && lower(line.front()) == 'd') line.remove_prefix(1);
  // "DECLINE**:" and "DECLINE:**" are both bold.
  const std::size_t colon = line.find_first_not_of(" \t*_");
  if (colon == std::string_view::npos || line[colon] != ':') return std::nullopt;
  return line.substr(colon + 1);
}

bool is_blank_line(std::string_view line) {
  return line.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

// The words of the first paragraph that declines, and what follows it.
struct DeclineParagraph {
  std::string_view words;
  std::string_view rest;
};

std::optional<DeclineParagraph> find_decline(std::string_view text) {
  std::size_t at = 0;
  std::optional<std::size_t> begin;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = text.substr(at, end - at);
    if (begin && is_blank_line(line)) break;
    if (const auto words = begin ? std::nullopt : behind_decline(line))
      begin = static_cast<std::size_t>(words->data() - text.data());
    at = end;
  }
  if (!begin) return std::nullopt;
  return DeclineParagraph{text.substr(*begin, at - *begin), text.substr(at)};
}

}  // namespace

std::optional<std::string> decline_in(std::string_view prose) {
  const std::optional<DeclineParagraph> found = find_decline(prose);
  if (!found) return std::nullopt;
  return decline_reason(found->words);
}

std::optional<std::string> decline_of_object(const nlohmann::json& object) {
  for (const char* key : {"declined", "decline"}) {
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) continue;
    if (found->is_boolean() && !found->get<bool>()) continue;
    return decline_reason(found->is_string() ? found->get<std::string>() : "");
  }
  return std::nullopt;
}

bool only_declines(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  const std::string_view line = text.substr(first, text.find('\n', first) - first);
  if (!behind_decline(line)) return false;
  return is_blank_line(find_decline(text)->rest);
}

std::string decline_reason(std::string_view words) {
  constexpr std::string_view kMarks = " \t\r\n*_";
  const std::size_t first = words.find_first_not_of(kMarks);
  if (first == std::string_view::npos) return "no reason given";
  words = words.substr(first, words.find_last_not_of(kMarks) - first + 1);
  std::string reason = one_line(words, kLongestReason);
  if (reason.empty()) reason = "no reason given";
  return reason;
}

}  // namespace regraph::llm
