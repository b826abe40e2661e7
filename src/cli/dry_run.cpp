#include "cli/dry_run.h"

#include "report/dry_run.h"
#include "session/expanders.h"
#include "session/opened_problem.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

namespace regraph::cli {

namespace {

// The prompts for the original: which steps, and how to do the one that would be tried first.
void preview_prompts(const LanguageModel& model, const Candidate& original, int evaluations,
                     const ExpansionContext& context, DryRunReport& report) {
  const llm::LanguageModelExpander& expander = model.expander();
  const StepProposal* first = nullptr;
  double highest = -1.0;
  for (std::size_t index = 0; index < report.proposals.size(); ++index) {
    if (!llm::is_by_model(report.proposals[index]) || report.priors[index] <= highest) continue;
    first = &report.proposals[index];
    highest = report.priors[index];
  }
  const llm::ChatRequest propose = expander.propose_request(original, context);
  report.prompts.push_back({"which steps", propose.messages});
  if (first == nullptr) return;
  const llm::ChatRequest apply = expander.apply_request(original, *first, 0, context);
  report.prompts.push_back({first->text(), apply.messages});
  report.cost = model.estimate(evaluations, apply, propose);
}

}  // namespace

Result<std::string, SessionError> dry_run(Session& session, const SearchOptions& options,
                                          const SearchConfig& config,
                                          const Cancellation& cancellation) {
  auto expander = session.expander(options.language_model, config, false);
  if (!expander) return std::move(expander).error();
  ExpansionContext context;
  context.evaluation = session.evaluate(
      session.original(), {.seed = config.seed, .wall_seconds = config.evaluation_wall_seconds},
      cancellation);
  const Evaluation& evaluation = context.evaluation;
  if (cancellation.requested()) return SessionError{FailureCause::interrupted, "interrupted"};
  if (!evaluation.correct()) {
    return SessionError{
        FailureCause::unusable_kernel,
        fmt::format("the original: {}: {}", name(evaluation.verdict), evaluation.message)};
  }
  auto proposals = (*expander)->expander().propose(session.original(), context, cancellation);
  auto priors = session.graph().priors({}, evaluation.facts, {session.device().name, evaluation.time.method}, proposals);
  DryRunReport report{session.problem(),    session.device(),  evaluation,
                      std::move(proposals), std::move(priors), session.opened().opaque_reason};
  if (const LanguageModel* model = (*expander)->model()) {
    preview_prompts(*model, session.original(), config.budget.evaluations, context, report);
  }
  return options.json ? dry_run_json(report) : dry_run_text(report);
}

}  // namespace regraph::cli
