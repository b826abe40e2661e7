#include "llm/prompt/json_answer.h"

#include "llm/prompt/answer_blocks.h"
#include "llm/prompt/answer_parser.h"
#include "llm/prompt/strict_json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string_view>
#include <vector>

namespace regraph::llm {

Result<nlohmann::json> read_json_answer(const ChatChoice& choice) {
  constexpr std::size_t kLargestJson = 64 << 10;
  const Result<std::string_view> text = answer_text(choice, AnswerLimits{}.answer);
  if (!text) return text.error();
  const JsonLimits limits{.bytes = kLargestJson, .depth = 8, .values = 1000};
  if (text->front() == '{' || text->front() == '[') return parse_strict_json(*text, limits);
  const Result<AnswerParts> parts = split_answer(*text);
  if (!parts) return parts.error();
  std::vector<std::string_view> blocks;
  for (const AnswerBlock& block : parts->blocks) {
    if (block.language.empty() || block.language == "json") blocks.push_back(block.text);
  }
  if (blocks.size() == 1) return parse_strict_json(blocks[0], limits);
  return fail(ErrorCode::parse,
              blocks.empty() ? "the answer holds no JSON; answer with one object and nothing else"
                             : "the answer holds several blocks of JSON; answer with one object");
}

}  // namespace regraph::llm
