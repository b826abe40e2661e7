#include "cli/dry_run.h"

#include "regraph/edge_scorer.h"
#include "regraph/graph_example.h"
#include "regraph/step_graph.h"
#include "report/dry_run.h"
#include "session/expanders.h"
#include "session/opened_problem.h"

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
  context.example = graph_example(session.graph(), StepGraph::kInit, first->step,
                                  {original, original, session.device().name});
  const auto apply = expander.apply_request(original, *first, 0, context);
  if (!apply) return;
  report.prompts.push_back({first->text(), apply->messages});
  report.cost = model.estimate(evaluations, *apply, propose);
}

PriorParts parts_of(const StepGraph& graph, const StepProposal& proposal, const Facts& facts,
                    const GainSource& source) {
  const bool by_rewriter = !proposal.parameters.contains(kAppliedBy);
  const auto expected = graph.expectation(proposal.step, by_rewriter, {}, facts, source);
  PriorParts parts{expected.evidence, expected.published, expected.log_gain, 0,
                   proposal.correction};
  if (const Step* step = graph.find(proposal.step)) {
    for (const auto& [device, statistics] : step->learned.by(source.method))
      parts.families += statistics.families;
  }
  return parts;
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
  if (const EdgeScorer* scorer = session.scorer())
    scorer->score(session.original(), context, proposals);
  const GainSource source{session.device().name, evaluation.time.method};
  auto priors = session.graph().priors({}, evaluation.facts, source, proposals);
  std::vector<PriorParts> parts;
  parts.reserve(proposals.size());
  for (const StepProposal& proposal : proposals)
    parts.push_back(parts_of(session.graph(), proposal, evaluation.facts, source));
  DryRunReport report{session.problem(),
                      session.device(),
                      evaluation,
                      std::move(proposals),
                      std::move(priors),
                      std::move(parts),
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
