#include "llm/prompt/choice_and_code.h"

#include "llm/prompt/answer_blocks.h"
#include "llm/prompt/answer_parser.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace regraph::llm {

namespace {

const AnswerBlock* block_of_steps(const AnswerParts& parts) {
  const auto named = std::ranges::find(parts.blocks, std::string("steps"), &AnswerBlock::language);
  if (named != parts.blocks.end()) return &*named;
  const auto holds_steps = [](const AnswerBlock& block) {
    const bool data = block.language.empty() || block.language == "json";
    return data && block.text.find("\"steps\"") != std::string_view::npos;
  };
  const auto found = std::ranges::find_if(parts.blocks, holds_steps);
  return found == parts.blocks.end() ? nullptr : &*found;
}

// `text` without `block`, which is a view into it, and the lines of its fences.
std::string without_block(std::string_view text, std::string_view block) {
  const auto begin = static_cast<std::size_t>(block.data() - text.data());
  const std::size_t opening = begin < 2 ? 0 : text.rfind('\n', begin - 2) + 1;
  const std::size_t closing = std::min(text.find('\n', begin + block.size()), text.size());
  std::string rest(text.substr(0, opening));
  return rest.append(text.substr(std::min(closing + 1, text.size())));
}

}  // namespace

Result<ChoiceAndCode> split_choice(const ChatChoice& choice) {
  const Result<std::string_view> text = answer_text(choice, AnswerLimits{}.answer);
  if (!text) return text.error();
  ChoiceAndCode result;
  result.steps.finish = choice.finish;
  if (text->front() == '{' || text->front() == '[') {
    result.steps.text = *text;
    return result;
  }
  const Result<AnswerParts> parts = split_answer(*text);
  if (!parts) return parts.error();
  const AnswerBlock* block = block_of_steps(*parts);
  if (block == nullptr) {
    return fail(ErrorCode::parse, "the answer holds no list of steps; give it in a ```steps block");
  }
  result.steps.text = block->text;
  std::string rest = without_block(*text, block->text);
  if (rest.find_first_not_of(" \t\r\n") == std::string::npos) return result;
  result.code = ChatChoice{std::move(rest), "", "", choice.finish};
  return result;
}

}  // namespace regraph::llm
