#include "regraph/regraph.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace regraph {

ReGraph::ReGraph() {
  Step init;
  init.id = std::string(kInit);
  vertices_.emplace(init.id, boost::add_vertex(std::move(init), graph_));
}

Status ReGraph::add_step(Step step) {
  if (step.id.empty()) return fail(ErrorCode::invalid_argument, "a step has an empty id");
  if (vertices_.contains(step.id)) {
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
                                                   graph_[taken->second].id + "'");
    }
  }
  std::string id = step.id;
  const Vertex added = boost::add_vertex(std::move(step), graph_);
  vertices_.emplace(std::move(id), added);
  for (const std::string& text : names) {
    std::string key = normalised_name(text);
    if (!key.empty()) by_any_name_.emplace(std::move(key), added);
  }
  return {};
}

Status ReGraph::add_transition(std::string_view from, std::string_view to, Transition transition) {
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
  if (boost::edge(*source, *target, graph_).second) {
    return fail(ErrorCode::invalid_argument, label + ": duplicate transition");
  }
  boost::add_edge(*source, *target, std::move(transition), graph_);
  return {};
}

Status ReGraph::record(std::string_view from, std::string_view to, std::string_view device,
                       const TransitionOutcome& outcome) {
  if (transition(from, to) == nullptr) {
    if (Status added = add_transition(from, to, Transition{}); !added) return added;
  }
  auto [edge, found] = boost::edge(*vertex(from), *vertex(to), graph_);
  graph_[edge].statistics[std::string(device)].add(outcome);
  return {};
}

const ReGraph::Vertex* ReGraph::vertex(std::string_view id) const {
  const auto found = vertices_.find(id);
  return found == vertices_.end() ? nullptr : &found->second;
}

const Step* ReGraph::find(std::string_view id) const {
  const Vertex* found = id == kInit ? nullptr : vertex(id);
  return found == nullptr ? nullptr : &graph_[*found];
}

const Step* ReGraph::find_by_any_name(std::string_view text) const {
  const auto found = by_any_name_.find(normalised_name(text));
  return found == by_any_name_.end() ? nullptr : &graph_[found->second];
}

const Transition* ReGraph::transition(std::string_view from, std::string_view to) const {
  const Vertex* source = vertex(from);
  const Vertex* target = vertex(to);
  if (source == nullptr || target == nullptr) return nullptr;
  const auto [edge, found] = boost::edge(*source, *target, graph_);
  return found ? &graph_[edge] : nullptr;
}

std::vector<const Step*> ReGraph::steps() const {
  std::vector<const Step*> result;
  for (const Vertex step : boost::make_iterator_range(boost::vertices(graph_))) {
    if (graph_[step].id != kInit) result.push_back(&graph_[step]);
  }
  return result;
}

std::vector<ReGraph::TransitionView> ReGraph::transitions() const {
  std::vector<TransitionView> result;
  for (const Vertex source : boost::make_iterator_range(boost::vertices(graph_))) {
    std::vector<Graph::edge_descriptor> outgoing(boost::out_edges(source, graph_).first,
                                                 boost::out_edges(source, graph_).second);
    std::ranges::sort(outgoing, {}, [&](const auto& edge) { return boost::target(edge, graph_); });
    for (const auto& edge : outgoing) {
      result.push_back({graph_[source].id, graph_[boost::target(edge, graph_)].id, graph_[edge]});
    }
  }
  return result;
}

bool ReGraph::operator==(const ReGraph& other) const {
  const auto same_step = [](const Step* a, const Step* b) { return *a == *b; };
  const auto same_transition = [](const TransitionView& a, const TransitionView& b) {
    return a.from == b.from && a.to == b.to && a.transition == b.transition;
  };
  return std::ranges::equal(steps(), other.steps(), same_step) &&
         std::ranges::equal(transitions(), other.transitions(), same_transition);
}

}  // namespace regraph
