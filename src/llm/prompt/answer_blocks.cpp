#include "llm/prompt/answer_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace regraph::llm {

namespace {

constexpr std::size_t kMostBlocks = 32;
constexpr auto kReasoningTags =
    std::to_array<std::string_view>({"think", "thinking", "reasoning", "thought"});

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

struct Fence {
  char mark = '`';
  std::size_t length = 0;
  std::string_view information;
};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::optional<Fence> fence_of(std::string_view line) {
  line = trimmed(line);
  if (line.size() < 3 || (line[0] != '`' && line[0] != '~')) return std::nullopt;
  Fence fence{line[0], line.find_first_not_of(line[0]), {}};
  if (fence.length == std::string_view::npos) fence.length = line.size();
  if (fence.length < 3) return std::nullopt;
  fence.information = trimmed(line.substr(fence.length));
  // ```code``` on one line is not a fence.
  if (fence.information.find('`') != std::string_view::npos) return std::nullopt;
  return fence;
}

std::string language_of(std::string_view information) {
  std::string word(information.substr(0, information.find_first_of(" \t{:,")));
  std::ranges::transform(word, word.begin(), lower);
  return word;
}

}  // namespace

Result<std::string_view> without_reasoning(std::string_view answer) {
  // Several tags may follow each other; each is passed once.
  std::string_view rest = trimmed(answer);
  while (true) {
    std::string_view next = rest;
    for (const std::string_view tag : kReasoningTags) {
      const std::string opening = fmt::format("<{}>", tag);
      const std::string closing = fmt::format("</{}>", tag);
      if (rest.substr(0, opening.size()) == opening) {
        const std::size_t end = rest.find(closing);
        if (end == std::string_view::npos) {
          return fail(ErrorCode::parse,
                      fmt::format("the answer ends within its reasoning: {} is never closed; "
                                  "answer with less reasoning",
                                  opening));
        }
        next = trimmed(rest.substr(end + closing.size()));
        break;
      }
    }
    if (next.size() == rest.size()) break;
    rest = next;
  }
  // Some servers keep the opening tag to themselves. In front of the first block or object only:
  // code may mention anything.
  const std::size_t content = std::min(rest.find("\n```"), rest.find('{'));
  for (const std::string_view tag : kReasoningTags) {
    const std::string closing = fmt::format("</{}>", tag);
    const std::size_t end = rest.substr(0, content).rfind(closing);
    if (end == std::string_view::npos) continue;
    return trimmed(rest.substr(end + closing.size()));
  }
  return rest;
}

Result<AnswerParts> split_answer(std::string_view answer) {
  AnswerParts parts;
  std::optional<Fence> open;
  std::size_t begin = 0;  // of the open block's text
  std::size_t at = 0;
  while (at < answer.size()) {
    const std::size_t end = std::min(answer.find('\n', at), answer.size() - 1) + 1;
    const std::string_view line = answer.substr(at, end - at);
    const std::optional<Fence> fence = fence_of(line);
    if (!open && fence) {
      if (parts.blocks.size() == kMostBlocks) {
        return fail(ErrorCode::parse,
                    fmt::format("more than {} fenced blocks in the answer", kMostBlocks));
      }
      open = fence;
      begin = end;
    } else if (open && fence && fence->mark == open->mark && fence->length >= open->length &&
               fence->information.empty()) {
      parts.blocks.push_back({language_of(open->information), answer.substr(begin, at - begin)});
      open.reset();
    } else if (!open) {
      parts.prose += line;
    }
    at = end;
  }
  if (open) {
    return fail(ErrorCode::parse,
                "the answer was cut off: its last fenced block is not closed; give shorter code");
  }
  return parts;
}

}  // namespace regraph::llm
