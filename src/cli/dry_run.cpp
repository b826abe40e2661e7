#include "cli/dry_run.h"

#include "regraph/graph_example.h"
#include "regraph/step_graph.h"
#include "report/dry_run.h"
#include "session/expanders.h"
#include "session/opened_problem.h"
#include "session/ranked_steps.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

namespace regraph::cli {

namespace {

// The prompts for the original: which steps, and how to do the one that would be tried first.
void preview_prompts(const LanguageModel& model, const Session& session, int evaluations,
                     ExpansionContext context, DryRunReport& report) {
  const Candidate& original = session.original();
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
  context.story.example = graph_example(session.graph(), StepGraph::kInit, first->step,
                                        {original, original, session.device().name});
  const auto apply = expander.apply_request(original, *first, 0, context);
  if (!apply) return;
  report.prompts.push_back({first->text(), apply->messages});
  report.cost = model.estimate(evaluations, *apply, propose);
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
  RankedSteps steps = ranked_steps(session, **expander, session.original(), context, cancellation);
  DryRunReport report{session.problem(),
                      session.device(),
                      evaluation,
                      std::move(steps.proposals),
                      std::move(steps.priors),
                      std::move(steps.parts),
                      session.opened().opaque_reason};
  const rewrite::AstRewriter* rewriter = (*expander)->rewriter();
  if (options.verbose && rewriter != nullptr && session.opened().rewritable)
    report.refusals = rewriter->refusals(session.original());
  if (const LanguageModel* model = (*expander)->model()) {
    preview_prompts(*model, session, config.budget.evaluations, context, report);
  }
  return options.json ? dry_run_json(report) : dry_run_text(report);
}

}  // namespace regraph::cli
