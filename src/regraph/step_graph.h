// The ReGraph: optimization steps and the transitions between them.
//
//   init ──4.5x──> coalesce_swap ──2.8x──> thread_coarsen ──1.5x──> smem_tile ──> ...
//     └──1.2x──> loop_unroll                    └──1.9x──┘ (cycles and self-loops are allowed)
//
// Vertices are steps plus "init", the kernel as the user gave it. An edge carries the published
// speedup of the second step after the first, and what was learned of it; so does a step, whatever
// came before it.
// Reading is safe from several threads at once; changing it needs exclusive access.
#pragma once

#include "base/result.h"
#include "kernel/facts.h"
#include "regraph/expander.h"
#include "regraph/step.h"
#include "regraph/transition.h"

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace regraph {

class StepGraph {
 public:
  // The vertex of the untouched kernel. Not a step: nothing leads to it.
  static constexpr std::string_view kInit = "init";

  struct TransitionView {
    std::string_view from;
    std::string_view to;
    const Transition& transition;
  };

  // An empty graph: only "init".
  StepGraph();

  // Adds a step. Errors (invalid_argument): an empty or taken id, an alias that names another step,
  // an unknown fact in its evidence.
  Status add_step(Step step);

  // Adds a transition. Errors: an unknown step (not_found); "init" as target, a transition that
  // exists, a speedup that is not positive and finite, a negative weight (invalid_argument).
  Status add_transition(std::string_view from, std::string_view to, Transition transition);

  // Sets what was learned of a step, or of a transition, which is added as one that nobody
  // published if there was none. Errors: an unknown step (not_found), "init" as target
  // (invalid_argument).
  Status set_learned(std::string_view step, LearnedGains learned);
  Status set_learned(std::string_view from, std::string_view to, LearnedGains learned);
  // Sets what is shown of a transition, the best first. Errors (invalid_argument): more than
  // kMostExamples, two of one family, one that is nonsense; not_found: no such transition.
  Status set_examples(std::string_view from, std::string_view to,
                      std::vector<TransitionExample> examples);
  // Forgets all that was learned: transitions that nobody published, candidates, statistics,
  // examples.
  [[nodiscard]] StepGraph published() const;

  // Which table of observations the statistics were derived from: its hash and its size, as
  // written by whoever derived them. Empty for a graph that learned nothing.
  [[nodiscard]] const std::string& learned_from() const { return learned_from_; }
  void set_learned_from(std::string table) { learned_from_ = std::move(table); }

  // Returns the step with that id, or null. Valid until the next change.
  [[nodiscard]] const Step* find(std::string_view id) const;
  // As find, but also by name or alias, ignoring case, blanks and punctuation.
  [[nodiscard]] const Step* find_by_any_name(std::string_view text) const;
  // Returns the transition, or null. Valid until the next change.
  [[nodiscard]] const Transition* transition(std::string_view from, std::string_view to) const;
  // All steps in the order they were added.
  [[nodiscard]] std::vector<const Step*> steps() const;
  // All transitions, by source and then target in the order the steps were added.
  [[nodiscard]] std::vector<TransitionView> transitions() const;

  // What a prior is made of.
  struct Expectation {
    double evidence = 0.0;   // 0 to 1, how far the facts argue for the step
    double published = 0.0;  // log-gain to expect of the step after this history, as published
    double log_gain = 0.0;   // the same with what was learned
    double success = 0.0;    // chance that the result is correct
    double score = 0.0;      // see priors.cpp
  };
  // What to expect of `step` at a state reached by applying `history` (step ids, oldest first) to
  // the original kernel. `by_rewriter`: the built-in rewriter applies it.
  [[nodiscard]] Expectation expectation(std::string_view step, bool by_rewriter,
                                        std::span<const std::string> history, const Facts& facts,
                                        const GainSource& source) const;

  // Returns the prior probability of each proposal at such a state; they sum to 1. Formula in
  // priors.cpp. `shifts`: what is added to each proposal's logit besides its own correction; empty
  // for nothing. Proposals of unknown steps get the score of an unlisted transition. Empty
  // proposals give an empty result.
  [[nodiscard]] std::vector<double> priors(std::span<const std::string> history, const Facts& facts,
                                           const GainSource& source,
                                           std::span<const StepProposal> proposals,
                                           std::span<const double> shifts = {}) const;

  // Equal steps in equal order and equal transitions.
  bool operator==(const StepGraph& other) const;

 private:
  using Vertex = std::size_t;  // place in vertices_
  struct Edge {
    Vertex from = 0;
    Vertex to = 0;
    Transition transition;
  };

  [[nodiscard]] const Vertex* vertex(std::string_view id) const;
  // Place in edges_, or nothing.
  [[nodiscard]] std::optional<std::size_t> edge(std::string_view from, std::string_view to) const;
  // Mean over the published transitions into a vertex of max(0, ln published); nothing without one.
  [[nodiscard]] std::optional<double> published_gain(Vertex target) const;

  std::vector<Step> vertices_;                      // in the order they were added, "init" first
  std::vector<std::vector<std::size_t>> incoming_;  // by vertex: places in edges_
  std::vector<Edge> edges_;                         // in the order they were added
  std::map<std::pair<Vertex, Vertex>, std::size_t> edge_of_;  // by source and target
  std::map<std::string, Vertex, std::less<>> by_id_;
  std::map<std::string, Vertex, std::less<>> by_any_name_;  // by normalised id, name and aliases
  std::string learned_from_;
};

}  // namespace regraph
