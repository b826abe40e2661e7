// What a policy sees of an edge: a row of named numbers about the state, how the search came there,
// the step with its settings, and the kernel that the step would make.
//
//   fact.NAME      of kPolicyFacts, counts as ln(1 + count); the evaluator's
//   shape.NAME     of the state's code                       (kernel_shape.h)
//   history.NAME   depth, log-speedup so far
//   count.STEP     ln(1 + how often the step was applied on the way)
//   last.STEP      1 for the step applied last
//   step.STEP      1 for the edge's step
//   setting.NAME   its parameters, numbers as log2
//   graph.NAME     what the ReGraph expects of it
//   change.NAME    shape of the kernel after the step less that of the state
//
// Absolute sizes, names of kernels and of variables are not among them. A number that is not known
// is NaN; a model takes it for its mean.
#pragma once

#include "kernel/candidate.h"
#include "policy/kernel_shape.h"
#include "regraph/expander.h"
#include "regraph/step_graph.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::policy {

// A step that a vocabulary does not have.
inline constexpr std::string_view kOtherStep = "other";

// The names of the numbers, for a vocabulary of steps.
class FeatureLayout {
 public:
  explicit FeatureLayout(std::vector<std::string> steps);

  [[nodiscard]] const std::vector<std::string>& steps() const { return steps_; }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] std::size_t size() const { return names_.size(); }
  // Place of a name; nothing when there is none of it.
  [[nodiscard]] std::optional<std::size_t> place(std::string_view name) const;
  // Numbers from here on differ between the edges of a state; those before are the state's.
  [[nodiscard]] std::size_t first_of_edge() const { return first_of_edge_; }

 private:
  friend class EdgeFeatures;
  void add(std::string name);
  [[nodiscard]] std::size_t step(std::string_view id) const;  // in steps_, the last for others

  std::vector<std::string> steps_;  // kOtherStep last
  std::vector<std::string> names_;
  std::map<std::string, std::size_t, std::less<>> places_;
  std::map<std::string, std::size_t, std::less<>> step_places_;
  std::size_t first_of_edge_ = 0;
};

// All that the numbers of a state and its edges are made of, besides the ReGraph.
struct StateView {
  Facts facts;
  TimeMethod method = TimeMethod::predicted;
  std::vector<std::string> history;  // steps from the original to the state
  double log_speedup = 0.0;          // over the original
  std::optional<KernelShape> shape;  // nothing: the code cannot be read
  std::vector<StepProposal> proposals;
  std::vector<std::optional<KernelShape>> after;  // by proposal: of what the step makes
};

// The view of a state. Of `context` evaluation, history and original_seconds are used. `rewriter`
// applies the steps whose results are looked at: those that are its own and repeatable; and of them
// only where `wanted` holds, by proposal, if it is not empty.
[[nodiscard]] StateView view_of(const Candidate& candidate, const ExpansionContext& context,
                                const std::vector<StepProposal>& proposals,
                                const Expander& rewriter, const std::vector<bool>& wanted = {});

// Makes rows of states. Thread-safe; layout and graph must outlive it.
class EdgeFeatures {
 public:
  EdgeFeatures(const FeatureLayout& layout, const StepGraph& graph, std::string device)
      : layout_(layout), graph_(graph), device_(std::move(device)) {}

  // A row of layout.size() numbers for each proposal.
  [[nodiscard]] std::vector<std::vector<float>> rows(const StateView& state) const;

 private:
  void set_state(const StateView& state, std::vector<float>& row) const;
  void set_edge(const StepProposal& proposal, const StepGraph::Expectation& expectation,
                double log_prior, std::vector<float>& row) const;
  const FeatureLayout& layout_;
  const StepGraph& graph_;
  const std::string device_;
};

}  // namespace regraph::policy
