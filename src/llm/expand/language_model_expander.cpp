#include "llm/expand/language_model_expander.h"

#include "base/hash.h"
#include "llm/prompt/judge_answer.h"
#include "llm/prompt/step_answer.h"
#include "regraph/transition_example.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace regraph::llm {

namespace {

// Steps of one list that count; the prompt asks for fewer.
constexpr std::size_t kMostNamed = 8;
// Weighted share of a step's conditions on counters that must hold for it to be tried unasked.
constexpr double kStrongEvidence = 0.9;
constexpr const char* kModel = "model";
// What a ReGraph brings is shown whole.
static_assert(PromptLimits{}.example >= kLargestExampleSide);

// How an error of the client is told to the search: it knows no language models.
Error as_error(const ChatError& error) {
  switch (error.failure) {
    case ChatFailure::over_budget:
      return fail(ErrorCode::resource, "the language model's budget is used up: " + error.message);
    case ChatFailure::cancelled:
      return fail(ErrorCode::cancelled, "cancelled");
    case ChatFailure::timed_out:
      return fail(ErrorCode::resource, error.message);
    default:
      return fail(ErrorCode::io, error.message);
  }
}

// Places of the proposals that a named step means: those with the values that were named, or, where
// none has them or none were named, all of the step.
std::vector<std::size_t> meant_by(const NamedStep& named,
                                  const std::vector<StepProposal>& proposals) {
  std::vector<std::size_t> of_step;
  std::vector<std::size_t> with_values;
  if (named.is_new) return of_step;
  for (std::size_t place = 0; place < proposals.size(); ++place) {
    const StepProposal& proposal = proposals[place];
    if (proposal.step != named.id) continue;
    of_step.push_back(place);
    const bool agrees = std::ranges::all_of(named.parameters, [&](const auto& value) {
      const auto own = proposal.parameters.find(value.first);
      return own != proposal.parameters.end() && own->second == value.second;
    });
    if (agrees) with_values.push_back(place);
  }
  return with_values.empty() ? of_step : with_values;
}

StepParameters chosen_values(const StepProposal& proposal) {
  StepParameters values = proposal.parameters;
  values.erase(kAppliedBy);
  return values;
}

}  // namespace

bool is_by_model(const StepProposal& proposal) {
  const auto by = proposal.parameters.find(kAppliedBy);
  return by != proposal.parameters.end() && by->second == kModel;
}

// One answer and what became of it.
struct LanguageModelExpander::Attempt {
  std::optional<ChatError> no_answer;
  std::string text;                    // of the answer
  std::optional<Error> rejection;      // it is no candidate
  std::optional<Candidate> candidate;  // it is
  Evaluation evaluation;               // of the candidate

  [[nodiscard]] bool correct() const { return candidate && evaluation.correct(); }
};

PromptState LanguageModelExpander::state_of(const Candidate& candidate,
                                            const Evaluation& evaluation) const {
  return {parts_.problem, candidate, evaluation, parts_.device};
}

std::vector<const Step*> LanguageModelExpander::catalogue(const Facts& facts) const {
  std::vector<const Step*> steps;
  for (const Step* step : parts_.graph.steps()) {
    if (step->granted(parts_.problem.assume) && step->possible(facts)) steps.push_back(step);
  }
  return steps;
}

// The seed tells requests of equal text apart that want different answers; servers that heed it
// give the same answer again.
ChatRequest LanguageModelExpander::request(std::vector<ChatMessage> messages, std::uint64_t salt,
                                           PromptKind kind) const {
  ChatRequest request;
  request.model = config_.model;
  request.messages = std::move(messages);
  request.temperature = config_.temperature;
  request.max_tokens = config_.max_tokens;
  const std::uint64_t derived = Hasher().add(config_.seed).add(salt).finish().low;
  // Within what every server reads: 31 bits.
  request.seed = static_cast<std::int64_t>(derived & 0x7fffffffU);
  if (const auto& schema = parts_.prompts.prompt(kind).schema) request.json_schema = schema->text();
  return request;
}

ChatRequest LanguageModelExpander::apply_request(const Candidate& candidate,
                                                 const StepProposal& proposal, int variant,
                                                 const ExpansionContext& context) const {
  const Step* step = parts_.graph.find(proposal.step);
  ApplyInputs inputs{state_of(candidate, context.evaluation), *step, chosen_values(proposal)};
  if (context.example) {
    const StepExample& example = *context.example;
    inputs.example = EdgeExample{
        example.from, example.kernel.empty() ? parts_.problem.signature.name : example.kernel,
        example.before->source, example.after->source, std::exp(example.log_gain)};
  }
  for (const FailedVariant& failure : context.failures)
    inputs.failed.push_back({failure.reason, failure.message});
  const Hash128 salt = Hasher()
                           .add(candidate.identity.low)
                           .add(proposal.text())
                           .add(static_cast<std::uint64_t>(variant))
                           .finish();
  return request(parts_.prompts.apply(inputs), salt.low, PromptKind::apply);
}

ChatRequest LanguageModelExpander::propose_request(const Candidate& candidate,
                                                   const ExpansionContext& context) const {
  ProposeInputs inputs{state_of(candidate, context.evaluation), catalogue(context.evaluation.facts),
                       context.history};
  ChatRequest result =
      request(parts_.prompts.propose(inputs), candidate.identity.low, PromptKind::propose);
  result.choices = config_.opinions;
  return result;
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
  if (!config_.apply) {
    if (config_.propose && !proposals.empty())
      name_steps(candidate, context, cancellation, proposals);
    return;
  }
  const std::size_t others = proposals.size();
  for (const Step* step : catalogue(context.evaluation.facts)) {
    const bool taken =
        std::any_of(proposals.begin(), proposals.begin() + static_cast<std::ptrdiff_t>(others),
                    [&](const StepProposal& proposal) { return proposal.step == step->id; });
    if (taken) continue;
    StepProposal proposal;
    proposal.step = step->id;
    proposal.parameters = {{kAppliedBy, kModel}};
    proposal.variant_limit = config_.variants;
    proposals.push_back(std::move(proposal));
  }
  if (config_.propose) name_steps(candidate, context, cancellation, proposals);
  if (others > 0) drop_unpromising(context.evaluation.facts, proposals);
}

bool LanguageModelExpander::owns(const StepProposal& proposal) const {
  return is_by_model(proposal);
}

// Beside others' steps, which cost nothing, the model's are for what it recommends itself
// and for what the counters argue for; the whole catalogue would use up the budget.
void LanguageModelExpander::drop_unpromising(const Facts& facts,
                                             std::vector<StepProposal>& proposals) const {
  if (proposals.front().opinions == 0) return;
  std::erase_if(proposals, [&](const StepProposal& proposal) {
    if (!is_by_model(proposal) || proposal.named_share > 0.0) return false;
    return parts_.graph.find(proposal.step)->evidence_match(facts) < kStrongEvidence;
  });
}

// Asks which steps to try and notes on the proposals how often they were named.
void LanguageModelExpander::name_steps(const Candidate& candidate, const ExpansionContext& context,
                                       const Cancellation& cancellation,
                                       std::vector<StepProposal>& proposals) const {
  tally_.change([](ExpansionStatistics& tally) { ++tally.proposals_asked; });
  const ChatResult result =
      parts_.model.complete(propose_request(candidate, context), cancellation);
  if (!result) return;
  std::vector<double> votes(proposals.size(), 0.0);
  int opinions = 0;
  const auto add = [&](const std::vector<NamedStep>& named) {
    if (named.empty()) return;
    ++opinions;
    for (const NamedStep& one : named) {
      const std::vector<std::size_t> meant = meant_by(one, proposals);
      for (const std::size_t place : meant)
        votes[place] += 1.0 / static_cast<double>(named.size() * meant.size());
    }
    tally_.change([&](ExpansionStatistics& tally) {
      for (const NamedStep& one : named) {
        if (!one.is_new) {
          ++tally.named_steps[one.id];
          continue;
        }
        NewStep& step = tally.new_steps[one.id];
        if (step.named++ == 0) step.why = one.why;
      }
    });
  };
  for (const ChatChoice& choice : result->choices) {
    const auto named = parse_steps(choice, *parts_.prompts.prompt(PromptKind::propose).schema,
                                   parts_.graph, kMostNamed);
    if (!named) continue;
    tally_.change([](ExpansionStatistics& tally) { ++tally.proposals_of_use; });
    add(*named);
  }
  if (config_.judge) {
    const OptimisationInputs inputs{state_of(candidate, context.evaluation),
                                    catalogue(context.evaluation.facts), context.history};
    const ChatRequest asked = request(parts_.prompts.judge_optimisation(inputs),
                                      candidate.identity.low, PromptKind::judge_optimisation);
    if (const ChatResult judged = parts_.model.complete(asked, cancellation)) {
      const auto advice = parse_optimisation(
          judged->choices.front(), *parts_.prompts.prompt(PromptKind::judge_optimisation).schema,
          parts_.graph);
      if (advice) {
        tally_.change([](ExpansionStatistics& tally) { ++tally.judged; });
        add({advice->step});
      }
    }
  }
  if (opinions == 0) return;
  for (std::size_t place = 0; place < proposals.size(); ++place) {
    proposals[place].opinions = opinions;
    proposals[place].named_share = votes[place] / opinions;
  }
}

LanguageModelExpander::Attempt LanguageModelExpander::attempt(
    const ChatRequest& asked, const Candidate& parent, const Candidate& shown,
    const Cancellation& cancellation) const {
  Attempt attempt;
  const ChatResult result = parts_.model.complete(asked, cancellation);
  if (!result) {
    attempt.no_answer = result.error();
    return attempt;
  }
  const ChatChoice& choice = result->choices.front();
  attempt.text = choice.text;
  const auto reject = [&](Error error, const std::string& kind) {
    tally_.change([&](ExpansionStatistics& tally) { ++tally.rejected[kind]; });
    attempt.rejection = std::move(error);
    return attempt;
  };
  auto parsed = AnswerParser().parse(choice, parts_.problem, shown);
  if (!parsed) return reject(std::move(parsed).error(), "unreadable");
  const std::string& kernel = parts_.problem.signature.name;
  const LaunchPlan plan =
      parsed->launch ? changed_plan(shown.plan, kernel, *parsed->launch) : shown.plan;
  auto read = parts_.reader.read(parsed->source, plan, parts_.problem.signature, parent.assumptions,
                                 cancellation);
  if (!read) return reject(std::move(read).error(), "signature");
  if (read->identity == parent.identity) {
    return reject(fail(ErrorCode::refused, "the answer changes nothing"), "unchanged");
  }
  attempt.candidate = std::move(*read);
  attempt.evaluation =
      parts_.evaluator.evaluate(*attempt.candidate, config_.evaluation, cancellation);
  tally_.change([&](ExpansionStatistics& tally) {
    ++tally.verdicts[static_cast<std::size_t>(attempt.evaluation.verdict)];
  });
  return attempt;
}

// What to say so that the next answer is right. An answer that was no candidate is sent back with
// the reason; a candidate that fails gets the smallest fix asked for.
std::vector<ChatMessage> LanguageModelExpander::repair_messages(
    const ChatRequest& first, const Attempt& failed, const Candidate& parent, const Step& step,
    std::uint64_t salt, const Cancellation& cancellation) const {
  if (!failed.candidate) {
    std::vector<ChatMessage> messages = first.messages;
    messages.push_back({Role::assistant, failed.text});
    messages.push_back({Role::user, "This answer cannot be used: " + failed.rejection->message +
                                        "\nAnswer again, in the form that was asked for."});
    return messages;
  }
  const PromptState state = state_of(*failed.candidate, failed.evaluation);
  RepairInputs inputs{state, parent, step};
  if (config_.judge) {
    const CorrectionInputs question{state, parent, step};
    const ChatRequest asked =
        request(parts_.prompts.judge_correction(question), salt, PromptKind::judge_correction);
    if (const ChatResult judged = parts_.model.complete(asked, cancellation)) {
      const auto advice = parse_correction(
          judged->choices.front(), *parts_.prompts.prompt(PromptKind::judge_correction).schema);
      if (advice) {
        tally_.change([](ExpansionStatistics& tally) { ++tally.judged; });
        inputs.advice = advice->text();
      }
    }
  }
  return parts_.prompts.repair(inputs);
}

Result<Candidate> LanguageModelExpander::apply(const Candidate& candidate,
                                               const StepProposal& proposal, int variant,
                                               const ExpansionContext& context,
                                               const Cancellation& cancellation) const {
  if (!is_by_model(proposal))
    return fail(ErrorCode::refused, "the language model has no step " + proposal.text());
  const Step* step = parts_.graph.find(proposal.step);
  if (step == nullptr)
    return fail(ErrorCode::refused, "the ReGraph has no step '" + proposal.step + "'");
  tally_.change([](ExpansionStatistics& tally) { ++tally.applications; });

  const ChatRequest first = apply_request(candidate, proposal, variant, context);
  Attempt last = attempt(first, candidate, candidate, cancellation);
  for (int round = 1; round <= config_.repair_rounds && !last.correct(); ++round) {
    // A failure to answer is the client's to retry.
    if (last.no_answer || cancellation.requested()) break;
    const std::uint64_t salt = Hasher()
                                   .add(static_cast<std::uint64_t>(*first.seed))
                                   .add(static_cast<std::uint64_t>(round))
                                   .finish()
                                   .low;
    tally_.change([](ExpansionStatistics& tally) { ++tally.repairs; });
    Attempt next =
        attempt(request(repair_messages(first, last, candidate, *step, salt, cancellation), salt,
                        PromptKind::repair),
                candidate, last.candidate ? *last.candidate : candidate, cancellation);
    if (next.correct()) tally_.change([](ExpansionStatistics& tally) { ++tally.repaired; });
    // A repair that came to less than what it repairs is dropped.
    if (next.candidate || !last.candidate) last = std::move(next);
  }
  if (cancellation.requested()) return fail(ErrorCode::cancelled, "cancelled");
  if (last.candidate) {
    tally_.change([](ExpansionStatistics& tally) { ++tally.candidates; });
    return std::move(*last.candidate);
  }
  if (last.no_answer) {
    tally_.change([](ExpansionStatistics& tally) { ++tally.no_answer; });
    return as_error(*last.no_answer);
  }
  return fail(ErrorCode::refused, "the language model's answer: " + last.rejection->message);
}

bool LanguageModelExpander::repeatable(const StepProposal& proposal) const {
  return !is_by_model(proposal);
}

Result<Candidate> LanguageModelExpander::restore(const Candidate& stored) const {
  auto read = parts_.reader.read(stored.source, stored.plan, parts_.problem.signature,
                                 stored.assumptions, Cancellation{});
  if (!read) return read.error();
  // What the search knew it by decides; the form is only for further steps.
  read->identity = stored.identity;
  return read;
}

double LanguageModelExpander::longest_seconds() const {
  // An answer and its evaluation, each repair with a judge's opinion before it, and the naming of
  // steps with a judge's after a measurement.
  const int opinions = config_.judge ? 2 : 1;
  const int calls = 1 + config_.repair_rounds * opinions + (config_.propose ? opinions : 0);
  return calls * config_.request_seconds +
         (1 + config_.repair_rounds) * parts_.evaluator.longest_seconds(config_.evaluation, 1);
}

}  // namespace regraph::llm
