// All that a search knows of its states: what they are, how they were judged, what can be done from
// them, and what came of it. States are numbered as in the StateGraph.
#pragma once

#include "regraph/step_graph.h"
#include "search/config.h"
#include "search/outcome.h"
#include "search/run_experience.h"
#include "search/searcher.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace regraph {

// Numbers for steps, in the order they were first proposed.
class StepNumbers {
 public:
  [[nodiscard]] std::uint32_t of(const std::string& step) {
    return numbers_.emplace(step, static_cast<std::uint32_t>(numbers_.size())).first->second;
  }

 private:
  std::map<std::string, std::uint32_t> numbers_;
};

// Two states of the same executable run the same machine code in the same way; {0, 0} when that is
// not known. Machine code alone does not tell states apart: another launch plan may run it too.
[[nodiscard]] Hash128 executable_of(const Candidate& candidate, const Evaluation& evaluation);

class KnownStates {
 public:
  // The references must outlive this.
  KnownStates(const StepGraph& graph, const SearchConfig& config)
      : graph_(graph), config_(config) {}

  // State 0, not judged yet.
  void add_original(const Candidate& original);
  // The state that a MEASURE ticket is about.
  void add(const Ticket& measure, std::shared_ptr<const Candidate> candidate);
  // A second parent, beside the one that it was first made from.
  void set_other_parent(std::uint32_t state, std::uint32_t parent) {
    states_[state].record.other_parent = parent;
  }
  [[nodiscard]] std::uint32_t number_of(const std::string& step) { return numbers_.of(step); }
  // What became of a state. Returns whether it is the best so far; never for the original.
  bool judge(std::uint32_t state, Evaluation evaluation, std::vector<StepProposal> proposals);
  // Keeps what expanders may be told about an attempt; `keep_failures`: whether they are told that
  // it failed.
  void learn(const AttemptRecord& attempt, std::string message, bool keep_failures);

  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(states_.size()); }
  [[nodiscard]] const StateRecord& at(std::uint32_t state) const { return states_[state].record; }
  [[nodiscard]] const std::vector<StepProposal>& proposals(std::uint32_t state) const {
    return states_[state].proposals;
  }
  // What an EXPAND ticket stands for.
  [[nodiscard]] const StepProposal& step_of(const Ticket& ticket) const {
    return states_[ticket.parent].proposals[ticket.proposal];
  }
  // Median time of the original; 0 until it is judged.
  [[nodiscard]] double original_seconds() const {
    return states_.front().record.evaluation.time.median_seconds;
  }
  [[nodiscard]] std::uint32_t best() const { return best_; }
  [[nodiscard]] double best_log_speedup() const { return best_log_speedup_; }

  // The states from the original (not included) to `state`, along the steps that first made them,
  // and the ids of these steps.
  [[nodiscard]] std::vector<std::uint32_t> path_to(std::uint32_t state) const;
  [[nodiscard]] std::vector<std::string> history(std::uint32_t state) const;
  // By how much the model is off near `state`: measured over predicted time of it or the nearest
  // state on the way to it that was measured and predicted; 0 when there is none. For
  // EvaluationBudget::measured_over_predicted.
  [[nodiscard]] double measured_over_predicted(std::uint32_t state) const;
  // What can be tried from a judged state, with priors.
  [[nodiscard]] std::vector<EdgeSeed> seeds(std::uint32_t state) {
    return seeds(history(state), at(state).evaluation.facts, proposals(state), experience_,
                 numbers_);
  }
  // The same for a state that need not exist, and after other tries.
  [[nodiscard]] std::vector<EdgeSeed> seeds(const std::vector<std::string>& history,
                                            const Facts& facts,
                                            const std::vector<StepProposal>& proposals,
                                            const RunExperience& experience,
                                            StepNumbers& numbers) const;
  // Whether a combination with `other` may be offered at `state`: both went their own way from a
  // common ancestor, and the other's way paid.
  [[nodiscard]] std::optional<OtherState> other_state(std::uint32_t state,
                                                      std::uint32_t other) const;
  // What this search has learned of steps; a copy can go on by itself.
  [[nodiscard]] const RunExperience& experience() const { return experience_; }
  // A try of `step` at a state of that history and those facts came to `log_gain`; nothing: it
  // failed.
  void observe(const std::vector<std::string>& history, const Facts& facts,
               const StepProposal& step, std::optional<double> log_gain,
               RunExperience& experience) const;
  [[nodiscard]] const StepNumbers& step_numbers() const { return numbers_; }
  // What an expander is told about a step at a state, as far as it is committed. `story`: also what
  // Expander::wants_story is about.
  [[nodiscard]] ExpansionContext context_of(std::uint32_t state, const StepProposal& step,
                                            bool story) const;
  // What it is told when it is asked for steps at a state that is being judged; the evaluation is
  // not known yet.
  [[nodiscard]] ExpansionContext context_at(std::uint32_t state, bool story) const;
  // Steps that somebody made up in this run, in the order they were first proposed.
  [[nodiscard]] const std::vector<NewStepRecord>& new_steps() const { return new_steps_; }

  // Hands the records over; nothing is known any more.
  [[nodiscard]] std::vector<StateRecord> take();

 private:
  struct Known {
    StateRecord record;
    std::vector<StepProposal> proposals;
    std::map<std::string, std::vector<FailedVariant>> failures;  // by task, the latest few
    // What was tried here, the latest few; where it led, to tell the way to a state from others.
    std::vector<std::pair<std::optional<std::uint32_t>, TriedStep>> tried;
  };
  // As what a try is learned from; nothing: it is not.
  [[nodiscard]] std::optional<StepProposal> learned_as(const StepProposal& step) const;
  void note_new_steps(const std::vector<StepProposal>& proposals);
  void count_new_step(const AttemptRecord& attempt);
  [[nodiscard]] std::vector<TriedStep> tried_near(std::uint32_t state) const;
  [[nodiscard]] std::vector<OtherState> others_for(std::uint32_t state) const;
  [[nodiscard]] GainSource gain_source() const;
  // What is shown of `step` after `from` at a state: what this search has seen elsewhere, else what
  // the graph has.
  [[nodiscard]] std::optional<StepExample> example_for(std::uint32_t state, const std::string& from,
                                                       const std::string& step) const;
  // What is expected of `step`: by the policy where there is one, else by the graph.
  [[nodiscard]] double expected_gain(const std::vector<std::string>& history, const Facts& facts,
                                     const StepProposal& step) const;

  // An application that paid.
  struct PaidStep {
    std::uint32_t parent = 0;
    std::uint32_t child = 0;
    double log_gain = 0.0;
  };

  const StepGraph& graph_;
  const SearchConfig& config_;
  std::vector<Known> states_;
  StepNumbers numbers_;
  RunExperience experience_;
  // By edge of the ReGraph (the step before, the step): the best two, at different states.
  std::map<std::pair<std::string, std::string>, std::vector<PaidStep>> paid_;
  std::vector<NewStepRecord> new_steps_;
  double best_log_speedup_ = 0.0;
  std::uint32_t best_ = 0;
};

}  // namespace regraph
