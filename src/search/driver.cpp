#include "search/driver.h"

#include "search/null_journal.h"
#include "search/search_run.h"

#include <cmath>

namespace regraph {

namespace {

Status check(const SearchConfig& config) {
  const auto bad = [](const char* message) { return fail(ErrorCode::invalid_argument, message); };
  const SearchBudget& budget = config.budget;
  if (budget.evaluations < 0 || !(budget.wall_seconds >= 0.0)) {
    return bad("a search budget must not be negative");
  }
  if (budget.evaluations == 0 && budget.wall_seconds == 0.0) {
    return bad("a search needs a budget of evaluations or seconds");
  }
  constexpr int kMostJobs = 1024;
  if (config.jobs < 1 || config.jobs > kMostJobs) return bad("jobs must be 1 to 1024");
  if (config.extra_workers < 0 || config.extra_workers > kMostJobs)
    return bad("extra workers must be 0 to 1024");
  if (config.window < 1 || config.window > kMostJobs) return bad("the window must be 1 to 1024");
  if (config.finalists < 1) return bad("there must be at least one finalist");
  if (!(config.evaluation_wall_seconds > 0.0) || !std::isfinite(config.evaluation_wall_seconds)) {
    return bad("the limit per evaluation must be a positive number of seconds");
  }
  const SelectionConfig& selection = config.selection;
  if (!(selection.max_share >= 0.0 && selection.max_share <= 1.0)) {
    return bad("max_share must be 0 to 1");
  }
  if (!(selection.variant_decay >= 0.0 && selection.variant_decay <= 1.0)) {
    return bad("variant_decay must be 0 to 1");
  }
  if (selection.greedy_every < 0) return bad("greedy_every must be 0 or more");
  if (selection.beam_width < 1) return bad("the beam must be at least 1 wide");
  if (!(selection.random_restart >= 0.0 && selection.random_restart <= 1.0)) {
    return bad("the chance of a restart must be 0 to 1");
  }
  const ReGraphTConfig& regrapht = selection.regrapht;
  const bool finite = std::isfinite(regrapht.exploration) && std::isfinite(regrapht.penalty);
  if (!finite || regrapht.exploration < 0.0 || regrapht.penalty < 0.0) {
    return bad("regrapht's exploration and penalty must be 0 or more");
  }
  if (!(regrapht.epsilon >= 0.0 && regrapht.epsilon <= 1.0)) {
    return bad("regrapht's epsilon must be 0 to 1");
  }
  if (regrapht.rollout_steps < 0) return bad("regrapht's rollout must be 0 steps or more");
  return {};
}

}  // namespace

const char* name(StopReason reason) {
  switch (reason) {
    case StopReason::budget:
      return "budget";
    case StopReason::exhausted:
      return "exhausted";
    case StopReason::cancelled:
      return "cancelled";
    case StopReason::workers_lost:
      return "workers_lost";
  }
  return "?";
}

Result<SearchOutcome> run_search(const Candidate& baseline, const Expander& expander,
                                 Evaluator& evaluator, const StepGraph& graph,
                                 const SearchConfig& config, SearchObserver* observer,
                                 const Cancellation& cancellation, SearchJournal* journal,
                                 const EdgeScorer* scorer, const Objection& objection) {
  if (Status checked = check(config); !checked) return checked.error();
  Result<std::unique_ptr<Searcher>> searcher =
      make_searcher(config.searcher, config.selection, config.seed);
  if (!searcher) return searcher.error();
  NullJournal nothing;
  evaluator.limit_threads(config.jobs);
  SearchRun run({expander, evaluator, graph, config, observer, cancellation,
                 journal != nullptr ? *journal : nothing, scorer, objection},
                std::move(searcher).value());
  return run.run(baseline);
}

}  // namespace regraph
