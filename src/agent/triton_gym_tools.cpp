// compile, verify and profile as another system names them, answered with its rewards: -10 where a
// candidate does not compile, -5 where it is wrong, max(0, 10 / milliseconds) once it was timed.
#include "agent/tool_groups.h"
#include "learn/reward.h"
#include "score/scorer.h"

#include <fmt/format.h>

#include <utility>

namespace regraph::agent {

namespace {

ToolResult with_reward(ToolResult result, const learn::RewardFacts& facts, bool timed) {
  if (result.is_error) return result;
  // What is right gets its reward when it is timed.
  const bool right = learn::is_correct(facts.outcome);
  const auto reward = learn::reward(learn::RewardKind::triton_gym, facts);
  const double value = right && !timed ? 0.0 : reward.value_or(0.0);
  result.structured["reward"] = value;
  result.text = fmt::format("reward {:g}\n{}", value, result.text);
  return result;
}

// The tool's answer with a reward for what the evaluator says of the candidate.
ToolResult judged(const ToolContext& context, ToolResult (*tool)(const ToolContext&), bool timed) {
  ToolResult result = tool(context);
  auto found = subject_of(context);
  if (result.is_error || std::holds_alternative<ToolResult>(found)) return result;
  const auto& subject = std::get<Subject>(found);
  learn::RewardFacts facts;
  facts.outcome = learn::AnswerOutcome::not_compiled;
  if (subject.candidate) {
    const Evaluation evaluation = subject.problem->judge(*subject.candidate, context.cancellation);
    facts.outcome = score::outcome_of(evaluation);
    facts.seconds = evaluation.time.median_seconds;
    // No part of the reward, but of what is known of an answer.
    facts.original_seconds = facts.parent_seconds =
        subject.problem->judge(subject.problem->session().original(), context.cancellation)
            .time.median_seconds;
  }
  return with_reward(std::move(result), facts, timed);
}

}  // namespace

ToolResult gym_compile_tool(const ToolContext& context) {
  ToolResult result = compile_tool(context);
  learn::RewardFacts facts;
  const bool compiles = result.structured.is_object() && result.structured.value("compiles", false);
  facts.outcome = compiles ? learn::AnswerOutcome::correct : learn::AnswerOutcome::not_compiled;
  return with_reward(std::move(result), facts, false);
}

ToolResult gym_verify_tool(const ToolContext& context) {
  return judged(context, verify_tool, false);
}

ToolResult gym_profile_tool(const ToolContext& context) {
  return judged(context, profile_tool, true);
}

}  // namespace regraph::agent
