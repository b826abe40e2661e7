#include "regraph/step_graph.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace regraph {

StepGraph::StepGraph() {
  Step init;
  init.id = std::string(kInit);
  by_id_.emplace(init.id, 0);
  vertices_.push_back(std::move(init));
  incoming_.emplace_back();
}

Status StepGraph::add_step(Step step) {
  if (step.id.empty()) return fail(ErrorCode::invalid_argument, "a step has an empty id");
  if (by_id_.contains(step.id)) {
    return fail(ErrorCode::invalid_argument, "duplicate step id '" + step.id + "'");
  }
  for (const EvidenceCondition& condition : step.evidence) {
    if (!is_known_fact(condition.fact)) {
      return fail(ErrorCode::invalid_argument,
                  "step '" + step.id + "': unknown fact '" + condition.fact + "'");
    }
  }
  // An id or alias must name one step only. A step may repeat its own names.
  std::vector<std::string> names = {step.id, step.name};
  names.insert(names.end(), step.aliases.begin(), step.aliases.end());
  for (const std::string& text : names) {
    const auto taken = by_any_name_.find(normalised_name(text));
    if (taken != by_any_name_.end()) {
      return fail(ErrorCode::invalid_argument, "step '" + step.id + "': duplicate alias '" + text +
                                                   "', it already names step '" +
                                                   vertices_[taken->second].id + "'");
    }
  }
  const Vertex added = vertices_.size();
  by_id_.emplace(step.id, added);
  vertices_.push_back(std::move(step));
  incoming_.emplace_back();
  for (const std::string& text : names) {
    std::string key = normalised_name(text);
    if (!key.empty()) by_any_name_.emplace(std::move(key), added);
  }
  return {};
}

Status StepGraph::add_transition(std::string_view from, std::string_view to,
                                 Transition transition) {
  const Vertex* source = vertex(from);
  const Vertex* target = vertex(to);
  if (source == nullptr || target == nullptr) {
    return fail(ErrorCode::not_found, "transition " + std::string(from) + " -> " + std::string(to) +
                                          ": unknown step '" +
                                          std::string(source == nullptr ? from : to) + "'");
  }
  const std::string label = "transition " + std::string(from) + " -> " + std::string(to);
  if (to == kInit) return fail(ErrorCode::invalid_argument, label + ": nothing leads to init");
  if (!(transition.expected_speedup > 0.0) || !std::isfinite(transition.expected_speedup)) {
    return fail(ErrorCode::invalid_argument, label + ": the gain must be a positive factor");
  }
  if (!(transition.prior_weight >= 0.0) || !std::isfinite(transition.prior_weight)) {
    return fail(ErrorCode::invalid_argument, label + ": the weight must not be negative");
  }
  if (!edge_of_.emplace(std::pair(*source, *target), edges_.size()).second) {
    return fail(ErrorCode::invalid_argument, label + ": duplicate transition");
  }
  incoming_[*target].push_back(edges_.size());
  edges_.push_back({*source, *target, std::move(transition)});
  return {};
}

Status StepGraph::set_learned(std::string_view step, LearnedGains learned) {
  const Vertex* known = vertex(step);
  if (known == nullptr || step == kInit)
    return fail(ErrorCode::not_found, "unknown step '" + std::string(step) + "'");
  vertices_[*known].learned = std::move(learned);
  return {};
}

Status StepGraph::set_learned(std::string_view from, std::string_view to, LearnedGains learned) {
  if (transition(from, to) == nullptr) {
    Transition unpublished;
    unpublished.prior_weight = 0.0;
    if (Status added = add_transition(from, to, std::move(unpublished)); !added) return added;
  }
  edges_[*edge(from, to)].transition.learned = std::move(learned);
  return {};
}

Status StepGraph::set_examples(std::string_view from, std::string_view to,
                               std::vector<TransitionExample> examples) {
  const std::string label = "transition " + std::string(from) + " -> " + std::string(to);
  const auto known = edge(from, to);
  if (!known) return fail(ErrorCode::not_found, label + ": there is none");
  if (examples.size() > kMostExamples) {
    return fail(ErrorCode::invalid_argument,
                label + ": more than " + std::to_string(kMostExamples) + " examples");
  }
  std::set<std::string_view> families;
  std::string wrong;
  for (const TransitionExample& example : examples) {
    if (wrong.empty()) wrong = example.nonsense();
    const bool another = families.insert(example.family).second;
    if (wrong.empty() && !another) wrong = "two examples of one family";
  }
  if (!wrong.empty()) return fail(ErrorCode::invalid_argument, label + ": " + wrong);
  edges_[*known].transition.examples = std::move(examples);
  return {};
}

StepGraph StepGraph::published() const {
  StepGraph result;
  for (const Step* step : steps()) {
    if (step->candidate) continue;
    Step forgetful = *step;
    forgetful.learned = {};
    static_cast<void>(result.add_step(std::move(forgetful)));
  }
  // In the order they were added, because sums over them are made in it.
  for (const Edge& edge : edges_) {
    Transition forgetful = edge.transition;
    forgetful.learned = {};
    forgetful.examples.clear();
    if (!forgetful.published()) continue;
    static_cast<void>(result.add_transition(vertices_[edge.from].id, vertices_[edge.to].id,
                                            std::move(forgetful)));
  }
  return result;
}

const StepGraph::Vertex* StepGraph::vertex(std::string_view id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &found->second;
}

std::optional<std::size_t> StepGraph::edge(std::string_view from, std::string_view to) const {
  const Vertex* source = vertex(from);
  const Vertex* target = vertex(to);
  if (source == nullptr || target == nullptr) return std::nullopt;
  const auto found = edge_of_.find({*source, *target});
  if (found == edge_of_.end()) return std::nullopt;
  return found->second;
}

const Step* StepGraph::find(std::string_view id) const {
  const Vertex* found = id == kInit ? nullptr : vertex(id);
  return found == nullptr ? nullptr : &vertices_[*found];
}

const Step* StepGraph::find_by_any_name(std::string_view text) const {
  const auto found = by_any_name_.find(normalised_name(text));
  return found == by_any_name_.end() ? nullptr : &vertices_[found->second];
}

const Transition* StepGraph::transition(std::string_view from, std::string_view to) const {
  const auto found = edge(from, to);
  return found ? &edges_[*found].transition : nullptr;
}

std::vector<const Step*> StepGraph::steps() const {
  std::vector<const Step*> result;
  for (const Step& step : vertices_) {
    if (step.id != kInit) result.push_back(&step);
  }
  return result;
}

std::vector<StepGraph::TransitionView> StepGraph::transitions() const {
  std::vector<TransitionView> result;
  for (const auto& [ends, place] : edge_of_) {
    result.push_back(
        {vertices_[ends.first].id, vertices_[ends.second].id, edges_[place].transition});
  }
  return result;
}

bool StepGraph::operator==(const StepGraph& other) const {
  const auto same_step = [](const Step* a, const Step* b) { return *a == *b; };
  const auto same_transition = [](const TransitionView& a, const TransitionView& b) {
    return a.from == b.from && a.to == b.to && a.transition == b.transition;
  };
  return learned_from_ == other.learned_from_ &&
         std::ranges::equal(steps(), other.steps(), same_step) &&
         std::ranges::equal(transitions(), other.transitions(), same_transition);
}

}  // namespace regraph
