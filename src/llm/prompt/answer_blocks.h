// The parts of an answer: fenced blocks and the text around them.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::llm {

struct AnswerBlock {
  std::string language;   // first word after the fence, in lower case; may be empty
  std::string_view text;  // into the answer, fences left out
};

struct AnswerParts {
  std::vector<AnswerBlock> blocks;
  std::string prose;  // what stands outside of them
};

// Returns `answer` without reasoning in front: <think>...</think> (also thinking, reasoning and
// thought), and everything up to a closing tag that was never opened. Error (parse): the answer
// ends within its reasoning.
[[nodiscard]] Result<std::string_view> without_reasoning(std::string_view answer);

// Cuts `answer` into blocks between lines of three or more backticks or tildes. Linear. Errors
// (parse): a block that is not closed (the answer was cut off), more than 32 blocks.
[[nodiscard]] Result<AnswerParts> split_answer(std::string_view answer);

}  // namespace regraph::llm
