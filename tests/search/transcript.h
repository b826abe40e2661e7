// Everything about a search that must not depend on timing, as text.
#pragma once

#include "search/outcome.h"

#include <cstdio>
#include <string>

namespace regraph::test {

// Every digit and every field: what a journal must not lose.
inline std::string text_of(const Evaluation& evaluation) {
  char times[200];
  const TimeEstimate& time = evaluation.time;
  std::snprintf(times, sizeof(times), "%a [%a, %a] of %d %s, roofline %a", time.median_seconds,
                time.low_seconds, time.high_seconds, time.samples, name(time.method),
                evaluation.roofline_seconds);
  const ResourceUsage& resources = evaluation.resources;
  std::string text = std::string(name(evaluation.verdict)) + " '" + evaluation.message + "' " +
                     times + " " + evaluation.bottleneck + " " + evaluation.machine_code.hex();
  for (const int number :
       {resources.registers_per_thread, resources.spill_store_bytes, resources.spill_load_bytes,
        resources.stack_bytes, resources.static_shared_bytes}) {
    text += " " + std::to_string(number);
  }
  for (const auto& [fact, value] : evaluation.facts) {
    std::snprintf(times, sizeof(times), " %s=%a", fact.c_str(), value);
    text += times;
  }
  return text;
}

inline std::string transcript(const SearchOutcome& outcome) {
  std::string text = outcome.best.source + " " + std::to_string(outcome.log_speedup) + " " +
                     std::to_string(outcome.evaluations) + " " +
                     std::to_string(outcome.transpositions) + " " +
                     std::to_string(outcome.lost_workers) + "\n";
  text += text_of(outcome.baseline_evaluation) + "\n" + text_of(outcome.best_evaluation) + "\n";
  for (const PathStep& step : outcome.path)
    text += step.step.text() + " " + std::to_string(step.log_gain) + "\n";
  for (const StateRecord& state : outcome.states) {
    text += std::to_string(state.id) + " from " + std::to_string(state.parent.value_or(0)) +
            " by " + state.step.text() + ": " + state.candidate->source + " " +
            text_of(state.evaluation) + " " + std::to_string(state.log_speedup) + " visits " +
            std::to_string(state.visits) + "\n";
  }
  for (const AttemptRecord& attempt : outcome.attempts) {
    text += std::to_string(attempt.parent) + " " + attempt.step.text() + " " + attempt.reason +
            " " + std::to_string(attempt.log_gain) + "\n";
  }
  for (const FinalistRecord& finalist : outcome.finalists) {
    text += "finalist " + std::to_string(finalist.state) + " " + std::to_string(finalist.rounds) +
            " " + text_of(finalist.evaluation) + "\n";
  }
  return text;
}

}  // namespace regraph::test
