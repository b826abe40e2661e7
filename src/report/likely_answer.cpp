#include "report/likely_answer.h"

#include <fmt/format.h>

#include <algorithm>

namespace regraph {
namespace {

// Null where there is none of that number.
const StateRecord* state_of(const SearchOutcome& outcome, std::uint32_t id) {
  const auto found = std::ranges::find(outcome.states, id, &StateRecord::id);
  return found == outcome.states.end() ? nullptr : &*found;
}

}  // namespace

std::optional<LikelyAnswer> likely_answer(const RunReport& report) {
  const SearchOutcome& outcome = report.outcome;
  const TimeEstimate& original = outcome.baseline_evaluation.time;
  const bool predicted = original.method == TimeMethod::predicted && !report.measurement;
  if (outcome.improved() || !predicted) return std::nullopt;
  // A claim that was withdrawn is not made again by another name.
  if (report.program && report.program->ran && !report.program->same) return std::nullopt;
  if (report.check && report.check->ran && !report.check->same) return std::nullopt;
  const StateRecord* best = nullptr;
  for (const StateRecord& state : outcome.states) {
    if (state.id == 0 || !state.candidate || !state.evaluation.correct()) continue;
    const auto dropped = [&](const FinalistRecord& finalist) {
      return finalist.state == state.id && finalist.dropped;
    };
    if (std::ranges::any_of(outcome.finalists, dropped)) continue;
    const bool shorter = best == nullptr || state.evaluation.time.median_seconds <
                                                best->evaluation.time.median_seconds;
    if (shorter) best = &state;
  }
  if (best == nullptr) return std::nullopt;
  const TimeEstimate& time = best->evaluation.time;
  LikelyAnswer answer{best,
                      original.median_seconds / time.median_seconds,
                      original.low_seconds / time.high_seconds,
                      original.high_seconds / time.low_seconds,
                      {}};
  if (answer.speedup < kLikelyGain) return std::nullopt;
  for (const StateRecord* state = best; state != nullptr && state->id != 0;
       state = state->parent ? state_of(outcome, *state->parent) : nullptr)
    answer.steps.push_back(state->step);
  std::ranges::reverse(answer.steps);
  return answer;
}

std::string likely_text(const LikelyAnswer& answer) {
  std::string steps;
  for (const StepProposal& step : answer.steps)
    steps += (steps.empty() ? "" : ", ") + step.text();
  return fmt::format("{:.2f}x by {}", answer.speedup, steps);
}

}  // namespace regraph
