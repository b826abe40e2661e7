#include "llm/expand/request_maker.h"

#include "base/hash.h"
#include "llm/prompt/story_text.h"
#include "regraph/combined_steps.h"
#include "regraph/transition_example.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace regraph::llm {

namespace {

// What a ReGraph brings is shown whole.
static_assert(PromptLimits{}.example >= kLargestExampleSide);

// What came of earlier answers to the same task: those that failed, and those that are known.
std::vector<FailedAttempt> earlier_answers(const StepProposal& proposal,
                                           const ExpansionContext& context) {
  std::vector<FailedAttempt> result;
  for (const FailedVariant& failure : context.story.failures)
    result.push_back({failure.reason, failure.message});
  for (const TriedStep& tried : context.story.tried) {
    const bool same =
        tried.steps_back == 0 && tried.verified && tried.step.text() == proposal.text();
    if (!same) continue;
    result.push_back({"correct, known", "An answer that made it " + factor_text(tried.log_gain) +
                                            ". Find another way to do it."});
  }
  return result;
}

}  // namespace

StepParameters chosen_values(const StepProposal& proposal) {
  StepParameters values = proposal.parameters;
  values.erase(kAppliedBy);
  return values;
}

PromptState RequestMaker::state_of(const Candidate& candidate, const Evaluation& evaluation,
                                   const ExpansionContext* context, const ShownCode& shown) const {
  return {problem_, candidate, evaluation, device_, context, shown.text()};
}

// The seed tells requests of equal text apart that want different answers; servers that heed it
// give the same answer again.
ChatRequest RequestMaker::make(std::vector<ChatMessage> messages, std::uint64_t salt,
                               PromptKind kind) const {
  ChatRequest request;
  request.model = config_.model;
  request.messages = std::move(messages);
  const bool chooses = kind == PromptKind::propose || kind == PromptKind::judge_optimisation;
  const bool repairs = kind == PromptKind::repair || kind == PromptKind::judge_correction;
  request.temperature = chooses   ? config_.temperatures.choosing
                        : repairs ? config_.temperatures.repairing
                                  : config_.temperatures.writing;
  request.max_tokens = config_.max_tokens;
  request.reasoning_effort = config_.reasoning_effort;
  request.reasoning_tokens = config_.reasoning_tokens;
  const std::uint64_t derived = Hasher().add(config_.seed).add(salt).finish().low;
  // Within what every server reads: 31 bits.
  request.seed = static_cast<std::int64_t>(derived & 0x7fffffffU);
  // The answer to `together` is not JSON alone.
  const auto& schema = prompts_.prompt(kind).schema;
  if (schema && kind != PromptKind::together) request.json_schema = schema->text();
  return request;
}

std::optional<Step> RequestMaker::step_of(const StepProposal& proposal) const {
  if (const Step* known = graph_.find(proposal.step)) return *known;
  if (proposal.advice.title.empty() && !is_combined(proposal)) return std::nullopt;
  Step step;
  step.id = proposal.step;
  step.name = is_combined(proposal) ? proposal.text() : proposal.advice.title;
  return step;
}

Step RequestMaker::planned_step(const std::string& id, const ExpansionContext& context) const {
  if (const Step* known = graph_.find(id)) return *known;
  Step step;
  step.id = id;
  const auto made_up = std::ranges::find(context.story.new_steps, id, &StepProposal::step);
  const bool known = made_up != context.story.new_steps.end();
  step.name = known ? made_up->advice.title : id;
  if (known) step.instruction = made_up->advice.reason;
  return step;
}

Result<ChatRequest> RequestMaker::apply(const Candidate& candidate, const StepProposal& proposal,
                                        int variant, const ExpansionContext& context) const {
  const ShownCode shown(candidate);
  const PromptState state = state_of(candidate, context.evaluation, &context, shown);
  const std::uint64_t salt = Hasher()
                                 .add(candidate.identity.low)
                                 .add(proposal.text())
                                 .add(static_cast<std::uint64_t>(variant))
                                 .finish()
                                 .low;
  std::vector<FailedAttempt> earlier = earlier_answers(proposal, context);
  if (proposal.step == kLeap) {
    if (!prompts_.has(PromptKind::leap))
      return fail(ErrorCode::refused, "there is no prompt for several steps at once");
    LeapInputs inputs{state, {}, std::move(earlier), proposal.advice.reason};
    for (const std::string& id : planned_steps(proposal))
      inputs.plan.push_back(planned_step(id, context));
    return make(prompts_.leap(inputs), salt, PromptKind::leap);
  }
  if (proposal.step == kCombine) {
    if (!prompts_.has(PromptKind::combine) || context.story.others.empty())
      return fail(ErrorCode::refused, "the state to be combined with is not there");
    const OtherState& other = context.story.others.front();
    const ShownCode other_shown(*other.candidate);
    const CombineInputs inputs{state, other, other_shown.text(), std::move(earlier),
                               proposal.advice.reason};
    return make(prompts_.combine(inputs), salt, PromptKind::combine);
  }
  const std::optional<Step> step = step_of(proposal);
  if (!step) return fail(ErrorCode::refused, "the ReGraph has no step '" + proposal.step + "'");
  ApplyInputs inputs{state, *step, chosen_values(proposal)};
  inputs.reason = proposal.advice.reason;
  inputs.failed = std::move(earlier);
  if (context.story.example) {
    const StepExample& example = *context.story.example;
    inputs.example =
        EdgeExample{example.from, example.kernel.empty() ? problem_.signature.name : example.kernel,
                    example.before->source, example.after->source, std::exp(example.log_gain)};
  }
  return make(prompts_.apply(inputs), salt, PromptKind::apply);
}

ChatRequest RequestMaker::propose(const Candidate& candidate, const ExpansionContext& context,
                                  const std::vector<const Step*>& catalogue,
                                  PromptKind kind) const {
  const ShownCode shown(candidate);
  ProposeInputs inputs{state_of(candidate, context.evaluation, &context, shown), catalogue,
                       context.history};
  inputs.leaps = offers_leaps();
  inputs.combinations = offers_combinations();
  ChatRequest result = make(prompts_.propose(inputs, {}, kind), candidate.identity.low, kind);
  // One answer alone is written with code.
  result.choices = kind == PromptKind::together ? 1 : config_.opinions;
  return result;
}

ChatRequest RequestMaker::judge_optimisation(const Candidate& candidate,
                                             const ExpansionContext& context,
                                             const std::vector<const Step*>& catalogue) const {
  const ShownCode shown(candidate);
  const OptimisationInputs inputs{state_of(candidate, context.evaluation, &context, shown),
                                  catalogue, context.history};
  return make(prompts_.judge_optimisation(inputs), candidate.identity.low,
              PromptKind::judge_optimisation);
}

ChatRequest RequestMaker::judge_correction(const Failure& failure, const Candidate& parent,
                                           const ExpansionContext& context, const Step& step,
                                           std::uint64_t salt) const {
  const ShownCode shown(failure.candidate);
  const ShownCode parent_shown(parent);
  const CorrectionInputs inputs{state_of(failure.candidate, failure.evaluation, nullptr, shown),
                                state_of(parent, context.evaluation, &context, parent_shown), step};
  return make(prompts_.judge_correction(inputs), salt, PromptKind::judge_correction);
}

ChatRequest RequestMaker::repair(const ChatRequest& asked, const Failure& failure,
                                 const Candidate& parent, const ExpansionContext& context,
                                 const Step& step, std::uint64_t salt) const {
  const ShownCode shown(failure.candidate);
  const ShownCode parent_shown(parent);
  const bool goes_on = prompts_.repairs_in_conversation();
  const RepairInputs inputs{state_of(failure.candidate, failure.evaluation, nullptr, shown),
                            state_of(parent, context.evaluation, &context, parent_shown),
                            step,
                            {},
                            failure.advice,
                            !goes_on || failure.was_edited};
  std::vector<ChatMessage> messages = prompts_.repair(inputs);
  if (goes_on) {
    std::vector<ChatMessage> conversation = asked.messages;
    conversation.push_back({Role::assistant, failure.answer});
    conversation.insert(conversation.end(), messages.begin(), messages.end());
    messages = std::move(conversation);
  }
  return make(std::move(messages), salt, PromptKind::repair);
}

ChatRequest RequestMaker::ask_again(const ChatRequest& asked, const std::string& answer,
                                    const std::string& reason, std::uint64_t salt) const {
  std::vector<ChatMessage> messages = asked.messages;
  messages.push_back({Role::assistant, answer});
  messages.push_back({Role::user, "This answer cannot be used: " + reason +
                                      "\nAnswer again, in the form that was asked for."});
  return make(std::move(messages), salt, PromptKind::repair);
}

}  // namespace regraph::llm
