#include "search/answer.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace regraph {

namespace {

// Most often the best state passes; that two in a row do not is rare.
constexpr double kNextIsAskedFor = 0.1;

// One percent: less than times are worth, predicted or measured.
constexpr double kSameLogSpeedup = 0.01;

}  // namespace

std::optional<Evaluation> Answer::confirm(std::uint32_t state, const EvaluationBudget& budget) {
  const int ordinal = confirmations_++;
  std::optional<ConfirmationRecord> known = records_.confirmation(ordinal, state, budget);
  if (records_.failure()) return std::nullopt;
  if (known) return std::move(known->evaluation);
  std::optional<Judged> judged = evaluate(state, budget);
  if (!judged) return std::nullopt;
  lost_ += judged->ending == Ending::lost ? 1 : 0;
  records_.record_confirmation(ordinal, {state, budget, judged->evaluation});
  if (records_.failure()) return std::nullopt;
  return std::move(judged->evaluation);
}

std::optional<Judged> Answer::evaluate(std::uint32_t state, const EvaluationBudget& budget) {
  if (inputs_.cancellation.requested()) return std::nullopt;
  std::optional<Judged> result;
  work_.judge({states_.at(state).candidate, budget, std::nullopt},
              [&](Judged judged) { result = std::move(judged); });
  while (!result) {
    static_cast<void>(work_.wait());
    if (result || !inputs_.cancellation.requested()) continue;
    work_.drop(true);
    return std::nullopt;
  }
  return result;
}

std::vector<Finalist> Answer::finalists() const {
  std::vector<Finalist> finalists;
  for (std::uint32_t id = 1; id < states_.count(); ++id) {
    const StateRecord& state = states_.at(id);
    const bool faster = state.evaluation.correct() && state.log_speedup > 0.0;
    if (faster && searcher_.graph().node(id).state == NodeState::measured)
      finalists.push_back({id, state.evaluation, static_cast<int>(states_.path_to(id).size())});
  }
  const auto log_speedup = [&](const Finalist& one) { return states_.at(one.state).log_speedup; };
  std::ranges::stable_sort(finalists, std::greater<>{}, log_speedup);
  // Steps that bring nothing are no part of an answer.
  const auto differs = std::ranges::find_if(finalists, [&](const Finalist& one) {
    return log_speedup(one) < log_speedup(finalists.front()) - kSameLogSpeedup;
  });
  std::stable_sort(finalists.begin(), differs,
                   [](const Finalist& a, const Finalist& b) { return a.steps < b.steps; });
  const auto kept = static_cast<std::size_t>(std::max(inputs_.config.finalists, 1));
  if (finalists.size() > kept) finalists.resize(kept);
  return finalists;
}

// Predicted times are confirmed one state after the other, until one passes: the next ones
// meanwhile.
void Answer::confirm_ahead(const std::vector<Finalist>& finalists) {
  work_.plan_with([this, finalists](int) {
    std::vector<Wish> wishes;
    double probability = 1.0;
    for (const Finalist& finalist : finalists) {
      const JudgeRequest request{states_.at(finalist.state).candidate, second_look(inputs_.config),
                                 std::nullopt};
      wishes.push_back({request, probability});
      probability *= kNextIsAskedFor;
    }
    return wishes;
  });
}

void Answer::choose(SearchOutcome& outcome) {
  std::vector<Finalist> left = finalists();
  if (inputs_.observer != nullptr)
    inputs_.observer->on_final_selection(static_cast<int>(left.size()));
  const Evaluation baseline = outcome.baseline_evaluation;
  std::vector<FinalistRecord> objected;
  while (true) {
    confirm_ahead(left);
    FinalSelection selection =
        select_final(left, baseline, final_selection_config(inputs_.config),
                     [&](std::uint32_t state, const EvaluationBudget& budget) {
                       return confirm(state, budget);
                     });
    work_.plan_with(nullptr);
    const std::optional<std::uint32_t> winner = selection.winner;
    claim(std::move(selection), outcome);
    if (!winner || !inputs_.objection || inputs_.cancellation.requested()) break;
    work_.finish();
    const std::optional<std::string> objection = inputs_.objection(outcome);
    if (!objection) break;
    outcome.withdraw_claim(states_.at(0), SpeedVerdict::ambiguous);
    const auto record = std::ranges::find(outcome.finalists, *winner, &FinalistRecord::state);
    record->dropped = true;
    record->objection = *objection;
    objected.push_back(*record);
    std::erase_if(left, [&](const Finalist& one) { return one.state == *winner; });
    if (left.empty()) break;
  }
  for (FinalistRecord& one : objected)
    if (std::ranges::find(outcome.finalists, one.state, &FinalistRecord::state) ==
        outcome.finalists.end())
      outcome.finalists.push_back(std::move(one));
  // Something was faster, if not right in every way.
  if (!outcome.improved() && !objected.empty()) outcome.verdict = SpeedVerdict::ambiguous;
  outcome.lost_workers += lost_;
}

void Answer::claim(FinalSelection selection, SearchOutcome& outcome) const {
  outcome.verdict = selection.verdict;
  outcome.confirmed = selection.confirmed;
  outcome.baseline_evaluation = std::move(selection.baseline_evaluation);
  outcome.finalists = std::move(selection.finalists);
  outcome.best_state = selection.winner.value_or(0);
  outcome.best = *states_.at(outcome.best_state).candidate;
  outcome.best_evaluation = outcome.baseline_evaluation;
  if (!selection.winner) return;
  outcome.best_evaluation = std::move(selection.winner_evaluation);
  outcome.log_speedup = std::log(outcome.baseline_evaluation.time.median_seconds /
                                 outcome.best_evaluation.time.median_seconds);
  double before = 0.0;
  for (const std::uint32_t id : states_.path_to(outcome.best_state)) {
    const StateRecord& state = states_.at(id);
    outcome.path.push_back({id, state.step, state.variant, state.log_speedup - before});
    before = state.log_speedup;
  }
}

}  // namespace regraph
