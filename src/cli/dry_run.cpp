#include "cli/dry_run.h"

#include "cli/exit_codes.h"
#include "report/dry_run.h"

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

std::variant<std::string, SetupFailure> dry_run(const SearchOptions& options,
                                                const SearchConfig& config,
                                                const LanguageModelPlace& place,
                                                const Cancellation& cancellation) {
  const SearchSetup& setup = place.setup;
  std::unique_ptr<LanguageModel> model;
  if (options.language_model.asks()) {
    auto made = set_up_language_model(options.language_model, place, false);
    if (auto* failed = std::get_if<SetupFailure>(&made)) return std::move(*failed);
    model = std::move(std::get<std::unique_ptr<LanguageModel>>(made));
  }
  const Expander& expander =
      model ? static_cast<const Expander&>(model->expander()) : place.rewriter;
  ExpansionContext context;
  context.evaluation = setup.evaluator->evaluate(
      setup.problem, setup.original,
      {.seed = options.seed, .wall_seconds = options.evaluation_seconds}, cancellation);
  const Evaluation& evaluation = context.evaluation;
  if (cancellation.requested()) return SetupFailure{kInterrupted, "interrupted"};
  if (!evaluation.correct()) {
    return SetupFailure{kUnusableKernel, fmt::format("the original: {}: {}",
                                                     name(evaluation.verdict), evaluation.message)};
  }
  auto proposals = expander.propose(setup.original, context, cancellation);
  auto priors = setup.graph.priors({}, evaluation.facts, setup.device.name, proposals);
  DryRunReport report{setup.problem,        setup.device,      evaluation,
                      std::move(proposals), std::move(priors), setup.opaque_reason};
  if (model) preview_prompts(*model, setup.original, config.budget.evaluations, context, report);
  return options.json ? dry_run_json(report) : dry_run_text(report);
}

}  // namespace regraph::cli
