#include "llm/expand/language_model_expander.h"

#include <algorithm>
#include <utility>

namespace regraph::llm {

namespace {

// Whether a step that somebody made up was tried on the way here and brought nothing: it is one
// change, and the code is nearly the same.
bool did_not_pay_nearby(const StepProposal& proposal, const ExpansionContext& context) {
  return !proposal.advice.title.empty() &&
         std::ranges::any_of(context.story.tried, [&](const TriedStep& tried) {
           return tried.steps_back > 0 && tried.verified && tried.log_gain <= 0.0 &&
                  tried.step.step == proposal.step;
         });
}

}  // namespace

LanguageModelExpander::LanguageModelExpander(const ExpanderParts& parts,
                                             const LanguageModelConfig& config)
    : parts_(parts),
      config_(config),
      requests_(parts.problem, parts.graph, parts.prompts, parts.device, config.requests),
      chooser_(parts.problem.assume, parts.graph, requests_, parts.model, tally_, config.choosing),
      writer_(parts.problem, requests_, parts.reader, parts.model, parts.evaluator, tally_,
              config.writing) {}

Result<ChatRequest> LanguageModelExpander::apply_request(const Candidate& candidate,
                                                         const StepProposal& proposal, int variant,
                                                         const ExpansionContext& context) const {
  return requests_.apply(candidate, proposal, variant, context);
}

ChatRequest LanguageModelExpander::propose_request(const Candidate& candidate,
                                                   const ExpansionContext& context) const {
  const bool together = config_.choosing.apply && config_.choosing.style == AskingStyle::together;
  return requests_.propose(candidate, context, chooser_.catalogue(context.evaluation.facts),
                           together ? PromptKind::together : PromptKind::propose);
}

std::vector<StepProposal> LanguageModelExpander::propose(const Candidate& candidate,
                                                         const ExpansionContext& context,
                                                         const Cancellation& cancellation) const {
  std::vector<StepProposal> proposals;
  add_proposals(candidate, context, proposals, cancellation);
  return proposals;
}

void LanguageModelExpander::add_proposals(const Candidate& candidate,
                                          const ExpansionContext& context,
                                          std::vector<StepProposal>& proposals,
                                          const Cancellation& cancellation) const {
  chooser_.add_proposals(candidate, context, proposals, cancellation);
}

bool LanguageModelExpander::owns(const StepProposal& proposal) const {
  return is_by_model(proposal);
}

Result<Candidate> LanguageModelExpander::apply(const Candidate& candidate,
                                               const StepProposal& proposal, int variant,
                                               const ExpansionContext& context,
                                               const Cancellation& cancellation) const {
  if (!is_by_model(proposal))
    return fail(ErrorCode::refused, "the language model has no step " + proposal.text());
  for (const FailedVariant& failure : context.story.failures) {
    if (failure.reason == name(ErrorCode::declined))
      return fail(ErrorCode::declined, failure.message);
  }
  if (did_not_pay_nearby(proposal, context)) {
    tally_.change([](ExpansionStatistics& tally) { ++tally.taken_back; });
    return fail(ErrorCode::declined, "not asked: it did not pay a step before");
  }
  if (is_left_behind(context)) {
    tally_.change([](ExpansionStatistics& tally) { ++tally.left_behind; });
    return fail(ErrorCode::declined, "not asked: another state is more than four times as fast");
  }
  const std::optional<Step> step = requests_.step_of(proposal);
  if (!step) return fail(ErrorCode::refused, "the ReGraph has no step '" + proposal.step + "'");
  std::optional<AnswerInAdvance> known;
  if (variant == 0) known = chooser_.take_answer(candidate, proposal);
  if (known) {
    return writer_.write(
        {candidate, context, *step, std::move(known->request), std::move(known->choice)},
        cancellation);
  }
  Result<ChatRequest> request = requests_.apply(candidate, proposal, variant, context);
  if (!request) return request.error();
  return writer_.write({candidate, context, *step, std::move(*request)}, cancellation);
}

bool LanguageModelExpander::repeatable(const StepProposal& proposal) const {
  return !is_by_model(proposal);
}

Result<Candidate> LanguageModelExpander::restore(const Candidate& stored) const {
  return parts_.reader.restore(stored, parts_.problem.signature);
}

double LanguageModelExpander::longest_seconds() const {
  // An answer and its evaluation, each repair with a judge's opinion before it, and the naming of
  // steps with a judge's after a measurement.
  const int repairs = config_.writing.repair_rounds;
  const int opinions = config_.writing.judge ? 2 : 1;
  const int calls = 1 + repairs * opinions + (config_.choosing.ask ? opinions : 0);
  return calls * config_.request_seconds +
         (1 + repairs) * parts_.evaluator.longest_seconds(config_.writing.evaluation, 1);
}

}  // namespace regraph::llm
