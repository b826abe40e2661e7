// Everything about a search that must not depend on timing, as text.
#pragma once

#include "search/outcome.h"

#include <string>

namespace regraph::test {

inline std::string transcript(const SearchOutcome& outcome) {
  std::string text = outcome.best.source + " " + std::to_string(outcome.log_speedup) + " " +
                     std::to_string(outcome.evaluations) + " " +
                     std::to_string(outcome.transpositions) + " " +
                     std::to_string(outcome.lost_workers) + "\n";
  for (const PathStep& step : outcome.path)
    text += step.step.text() + " " + std::to_string(step.log_gain) + "\n";
  for (const StateRecord& state : outcome.states) {
    text += std::to_string(state.id) + " from " + std::to_string(state.parent.value_or(0)) +
            " by " + state.step.text() + ": " + state.candidate->source + " " +
            name(state.evaluation.verdict) + " " + std::to_string(state.log_speedup) + " visits " +
            std::to_string(state.visits) + "\n";
  }
  for (const AttemptRecord& attempt : outcome.attempts) {
    text += std::to_string(attempt.parent) + " " + attempt.step.text() + " " + attempt.reason +
            " " + std::to_string(attempt.log_gain) + "\n";
  }
  for (const FinalistRecord& finalist : outcome.finalists) {
    text += "finalist " + std::to_string(finalist.state) + " " + std::to_string(finalist.rounds) +
            " " + std::to_string(finalist.evaluation.time.median_seconds) + "\n";
  }
  return text;
}

}  // namespace regraph::test
