#include "llm/prompt/judge_answer.h"

#include "llm/prompt/json_answer.h"
#include "llm/prompt/prompt_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace regraph::llm {

namespace {

using Json = nlohmann::json;

Result<Json> checked(const ChatChoice& choice, const JsonSchema& schema) {
  Result<Json> answer = read_json_answer(choice);
  if (!answer) return answer;
  if (Status status = schema.check(*answer); !status) return status.error();
  return answer;
}

// The schema is a file's and may have changed: a text that it does not ask for is empty.
std::string line_of(const Json& answer, const char* key) {
  constexpr std::size_t kLongestLine = 600;
  const auto found = answer.is_object() ? answer.find(key) : answer.end();
  if (found == answer.end() || !found->is_string()) return {};
  return one_line(found->get<std::string>(), kLongestLine);
}

}  // namespace

std::string CorrectionAdvice::text() const {
  return fmt::format("Issue: {}\nWhere: {}\nFix: {}\n", critical_issue, where, minimal_fix);
}

Result<CorrectionAdvice> parse_correction(const ChatChoice& choice, const JsonSchema& schema) {
  const Result<Json> answer = checked(choice, schema);
  if (!answer) return answer.error();
  return CorrectionAdvice{line_of(*answer, "critical_issue"), line_of(*answer, "where"),
                          line_of(*answer, "minimal_fix")};
}

Result<OptimisationAdvice> parse_optimisation(const ChatChoice& choice, const JsonSchema& schema,
                                              const StepGraph& graph) {
  const Result<Json> answer = checked(choice, schema);
  if (!answer) return answer.error();
  OptimisationAdvice advice{line_of(*answer, "bottleneck"),
                            relabelled(line_of(*answer, "step"), graph),
                            line_of(*answer, "change")};
  if (advice.step.id.empty()) {
    return fail(ErrorCode::parse, fmt::format("step: '{}' names no step", advice.step.name));
  }
  advice.step.why = advice.bottleneck;
  return advice;
}

}  // namespace regraph::llm
