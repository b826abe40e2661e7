#include "llm/expand/step_writer.h"

#include "base/hash.h"
#include "llm/prompt/answer_edits.h"
#include "llm/prompt/answer_parser.h"
#include "llm/prompt/judge_answer.h"

#include <utility>

namespace regraph::llm {

namespace {

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

}  // namespace

// One answer and what became of it.
struct StepWriter::Attempt {
  std::optional<ChatError> no_answer;
  std::string text;                     // of the answer
  std::optional<std::string> declined;  // it says that the step is of no use here
  std::optional<Error> rejection;       // it is no candidate
  std::optional<Candidate> candidate;   // it is
  Evaluation evaluation;                // of the candidate

  [[nodiscard]] bool correct() const { return candidate && evaluation.correct(); }
  // Whether asking again may lead to something.
  [[nodiscard]] bool can_be_mended() const { return !correct() && !no_answer && !declined; }
};

StepWriter::Attempt StepWriter::read(const ChatChoice& choice, const Candidate& parent,
                                     const Candidate& shown,
                                     const Cancellation& cancellation) const {
  Attempt attempt;
  attempt.text = choice.text;
  const auto reject = [&](Error error, const std::string& kind) {
    tally_.change([&](ExpansionStatistics& tally) { ++tally.rejected[kind]; });
    attempt.rejection = std::move(error);
    return attempt;
  };
  const auto decline = [&](std::string why) {
    attempt.declined = std::move(why);
    return attempt;
  };
  const ShownCode code(shown);
  auto parsed = AnswerParser().parse(choice, problem_, shown, code.text());
  if (!parsed) return reject(std::move(parsed).error(), "unreadable");
  if (parsed->declined) return decline(std::move(*parsed->declined));
  const std::string& kernel = problem_.signature.name;
  const LaunchPlan plan =
      parsed->launch ? changed_plan(shown.plan, kernel, *parsed->launch) : shown.plan;
  auto read = reader_.read(code.whole(parsed->source), plan, problem_.signature, parent.assumptions,
                           cancellation);
  if (!read) {
    const bool other = read.error().code == ErrorCode::refused;
    return reject(std::move(read).error(), other ? "signature" : "unreadable");
  }
  if (read->identity == parent.identity) return decline("the answer changes nothing");
  attempt.candidate = std::move(*read);
  attempt.evaluation = evaluator_.evaluate(*attempt.candidate, config_.evaluation, cancellation);
  tally_.change([&](ExpansionStatistics& tally) {
    ++tally.verdicts[static_cast<std::size_t>(attempt.evaluation.verdict)];
  });
  return attempt;
}

StepWriter::Attempt StepWriter::attempt(const ChatRequest& request, const Candidate& parent,
                                        const Candidate& shown,
                                        const Cancellation& cancellation) const {
  const ChatResult result = model_.complete(request, cancellation);
  if (result) return read(result->choices.front(), parent, shown, cancellation);
  Attempt attempt;
  attempt.no_answer = result.error();
  return attempt;
}

// What to ask so that the next answer is right. An answer that was no candidate is sent back with
// the reason; of a candidate that fails the smallest fix is asked for.
ChatRequest StepWriter::repair_request(const WritingTask& task, const Attempt& failed,
                                       std::uint64_t salt, const Cancellation& cancellation) const {
  if (!failed.candidate)
    return requests_.ask_again(task.request, failed.text, failed.rejection->message, salt);
  RequestMaker::Failure failure{*failed.candidate, failed.evaluation, failed.text,
                                holds_edits(failed.text)};
  if (config_.judge) {
    const ChatResult judged = model_.complete(
        requests_.judge_correction(failure, task.parent, task.context, task.step, salt),
        cancellation);
    if (judged) {
      const auto& schema = requests_.prompts().prompt(PromptKind::judge_correction).schema;
      if (const auto advice = parse_correction(judged->choices.front(), *schema)) {
        tally_.change([](ExpansionStatistics& tally) { ++tally.judged; });
        failure.advice = advice->text();
      }
    }
  }
  return requests_.repair(task.request, failure, task.parent, task.context, task.step, salt);
}

Result<Candidate> StepWriter::write(const WritingTask& task,
                                    const Cancellation& cancellation) const {
  tally_.change([](ExpansionStatistics& tally) { ++tally.applications; });
  Attempt last = task.answer ? read(*task.answer, task.parent, task.parent, cancellation)
                             : attempt(task.request, task.parent, task.parent, cancellation);
  for (int round = 1; round <= config_.repair_rounds && last.can_be_mended(); ++round) {
    if (cancellation.requested()) break;
    const std::uint64_t salt = Hasher()
                                   .add(static_cast<std::uint64_t>(task.request.seed.value_or(0)))
                                   .add(static_cast<std::uint64_t>(round))
                                   .finish()
                                   .low;
    tally_.change([](ExpansionStatistics& tally) { ++tally.repairs; });
    const ChatRequest request = repair_request(task, last, salt, cancellation);
    Attempt next =
        attempt(request, task.parent, last.candidate ? *last.candidate : task.parent, cancellation);
    if (next.correct()) tally_.change([](ExpansionStatistics& tally) { ++tally.repaired; });
    // A repair that came to less than what it repairs is dropped.
    const bool gives_up = next.declined.has_value();
    if (next.candidate || !last.candidate) last = std::move(next);
    if (gives_up) break;
  }
  return conclude(std::move(last), cancellation);
}

Result<Candidate> StepWriter::conclude(Attempt last, const Cancellation& cancellation) const {
  if (cancellation.requested()) return fail(ErrorCode::cancelled, "cancelled");
  if (last.candidate) {
    tally_.change([](ExpansionStatistics& tally) { ++tally.candidates; });
    return std::move(*last.candidate);
  }
  if (last.declined) {
    tally_.change([](ExpansionStatistics& tally) { ++tally.declined; });
    return fail(ErrorCode::declined, *last.declined);
  }
  if (last.no_answer) {
    tally_.change([](ExpansionStatistics& tally) { ++tally.no_answer; });
    return as_error(*last.no_answer);
  }
  return fail(ErrorCode::refused, "the language model's answer: " + last.rejection->message);
}

}  // namespace regraph::llm
