#include "base/utf8.h"
#include "llm/prompt/answer_blocks.h"
#include "llm/prompt/answer_parser.h"
#include "llm/prompt/prompt_text.h"

#include <fmt/format.h>

namespace regraph::llm {

Result<std::string_view> answer_text(const ChatChoice& choice, std::size_t limit) {
  constexpr std::size_t kShown = 200;
  const auto error = [](std::string what) { return fail(ErrorCode::parse, std::move(what)); };
  if (choice.finish == FinishReason::length) {
    return error("the answer was cut off at the limit of tokens; give a shorter one");
  }
  if (choice.finish == FinishReason::content_filter) return error("the server withheld the answer");
  if (!choice.refusal.empty()) {
    return error(fmt::format("the model refused: {}", one_line(choice.refusal, kShown)));
  }
  const std::string_view text = choice.text;
  if (text.size() > limit) {
    return error(
        fmt::format("the answer is too long: {} bytes, at most {} are read", text.size(), limit));
  }
  if (text.find('\0') != std::string_view::npos) return error("the answer holds a NUL byte");
  if (const auto wrong = find_invalid_utf8(text)) {
    return error(fmt::format("the answer is not UTF-8 text (byte {})", *wrong));
  }
  Result<std::string_view> rest = without_reasoning(text);
  if (rest && rest->empty()) return error("the answer is empty");
  return rest;
}

}  // namespace regraph::llm
