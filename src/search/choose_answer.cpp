// The end of a run: finalists are confirmed and the answer is put together.
#include "search/final_selection.h"
#include "search/search_run.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace regraph {

std::optional<Evaluation> SearchRun::confirm(std::uint32_t state, const EvaluationBudget& budget) {
  SearchJournal* const journal = inputs_.journal;
  const int ordinal = confirmations_++;
  if (journal != nullptr) {
    Result<std::optional<ConfirmationRecord>> known = journal->confirmation(ordinal, state, budget);
    if (!known) require(known.error());
    if (failure_) return std::nullopt;
    if (*known) return std::move((*known)->evaluation);
  }
  std::optional<Evaluation> evaluation = evaluate_now(state, budget);
  if (evaluation && journal != nullptr) {
    journal->advance(commits_, elapsed_seconds());
    require(journal->record_confirmation(ordinal, {state, budget, *evaluation}));
    if (failure_) return std::nullopt;
  }
  return evaluation;
}

std::optional<Evaluation> SearchRun::evaluate_now(std::uint32_t state,
                                                  const EvaluationBudget& budget) {
  auto job = std::make_shared<EvaluateJob>(inputs_, outcome_.states[state].candidate, budget,
                                           std::nullopt);
  if (inputs_.cancellation.requested()) return std::nullopt;
  pool_.submit(job);
  for (;;) {
    const std::shared_ptr<Job> finished = pool_.wait(kPollInterval);
    if (finished == job) break;
    if (inputs_.cancellation.requested()) {
      pool_.cancel_all();
      return std::nullopt;
    }
    if (pool_.write_off(patience()) == job) {
      ++outcome_.lost_workers;
      Evaluation lost;
      lost.verdict = Verdict::timeout;
      lost.message = "the evaluation did not come to an end and was written off";
      return lost;
    }
  }
  if (!job->threw) return std::move(job->evaluation);
  Evaluation crashed;
  crashed.verdict = Verdict::crash;
  crashed.message = "the evaluator ended with an exception";
  return crashed;
}

void SearchRun::choose_answer() {
  std::vector<Finalist> finalists;
  for (const StateRecord& state : outcome_.states) {
    const bool faster = state.id != 0 && state.evaluation.correct() && state.log_speedup > 0.0;
    if (faster && searcher_->graph().node(state.id).state == NodeState::measured) {
      finalists.push_back({state.id, state.evaluation});
    }
  }
  std::ranges::stable_sort(finalists, std::greater<>{}, [&](const Finalist& finalist) {
    return outcome_.states[finalist.state].log_speedup;
  });
  const auto kept = static_cast<std::size_t>(std::max(inputs_.config.finalists, 1));
  if (finalists.size() > kept) finalists.resize(kept);
  if (inputs_.observer != nullptr) {
    inputs_.observer->on_final_selection(static_cast<int>(finalists.size()));
  }

  FinalSelectionConfig config;
  config.seed = inputs_.config.seed;
  config.repetitions = inputs_.config.final_repetitions;
  config.evaluation_wall_seconds = inputs_.config.evaluation_wall_seconds;
  FinalSelection selection = select_final(
      finalists, outcome_.baseline_evaluation, config,
      [&](std::uint32_t state, const EvaluationBudget& budget) { return confirm(state, budget); });

  outcome_.verdict = selection.verdict;
  outcome_.confirmed = selection.confirmed;
  outcome_.baseline_evaluation = selection.baseline_evaluation;
  outcome_.finalists = std::move(selection.finalists);
  outcome_.best_state = selection.winner.value_or(0);
  outcome_.best = *outcome_.states[outcome_.best_state].candidate;
  outcome_.best_evaluation = outcome_.baseline_evaluation;
  if (!selection.winner) return;
  outcome_.best_evaluation = std::move(selection.winner_evaluation);
  outcome_.log_speedup = std::log(outcome_.baseline_evaluation.time.median_seconds /
                                  outcome_.best_evaluation.time.median_seconds);
  double before = 0.0;
  for (const std::uint32_t id : states_to(outcome_.best_state)) {
    const StateRecord& state = outcome_.states[id];
    outcome_.path.push_back({id, state.step, state.variant, state.log_speedup - before});
    before = state.log_speedup;
  }
}

}  // namespace regraph
