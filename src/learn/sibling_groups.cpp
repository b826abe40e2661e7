#include "learn/sibling_groups.h"

#include <algorithm>
#include <map>
#include <utility>

namespace regraph::learn {

namespace {

constexpr double kLeast = -1.0;
constexpr double kMost = 1.5;

// Best score at or below each state of a run. Edges that led back are left out, so there is no
// cycle and the values settle after as many rounds as the longest path has steps.
std::map<std::uint32_t, double> best_below(const RunDigest& digest) {
  std::map<std::uint32_t, double> best;
  for (const DigestState& state : digest.states)
    best[state.id] = state.view.log_speedup;
  for (bool changed = true; changed;) {
    changed = false;
    for (const DigestState& state : digest.states) {
      double& own = best[state.id];
      for (const DigestEdge& edge : state.edges) {
        if (!edge.child || edge.repeats) continue;
        const auto child = best.find(*edge.child);
        if (child == best.end() || child->second <= own) continue;
        own = child->second;
        changed = true;
      }
    }
  }
  return best;
}

struct Outcome {
  const DigestEdge* edge = nullptr;
  double best = kLeast;
};
struct MergedState {
  const RunDigest* digest = nullptr;
  const DigestState* state = nullptr;         // of the first run that knew it
  std::map<std::string, Outcome> outcomes;    // by the proposal's text
  std::map<std::string, std::optional<policy::KernelShape>> after;
};

void merge(const RunDigest& digest, std::map<std::pair<std::string, std::string>, MergedState>& states) {
  const std::map<std::uint32_t, double> best = best_below(digest);
  for (const DigestState& state : digest.states) {
    if (state.edges.empty()) continue;
    MergedState& merged = states[{digest.kernel_hash, state.identity}];
    if (merged.state == nullptr) {
      merged.digest = &digest;
      merged.state = &state;
    }
    for (const DigestEdge& edge : state.edges) {
      const std::string text = state.view.proposals[edge.proposal].text();
      double value = kLeast;
      if (edge.verified && edge.child == state.id) {
        value = 0.0;
      } else if (edge.verified && edge.child && best.contains(*edge.child)) {
        value = best.at(*edge.child) - state.view.log_speedup;
      } else if (edge.verified) {
        value = edge.log_gain;
      }
      Outcome& known = merged.outcomes[text];
      if (known.edge == nullptr || value > known.best) known = {&edge, value};
      if (const auto& after = state.view.after[edge.proposal]) merged.after[text] = after;
    }
  }
}

}  // namespace

std::vector<SiblingGroup> sibling_groups(std::span<const RunDigest> digests,
                                         const policy::FeatureLayout& layout,
                                         const StepGraph& graph) {
  std::map<std::pair<std::string, std::string>, MergedState> states;
  for (const RunDigest& digest : digests)
    merge(digest, states);
  std::vector<SiblingGroup> groups;
  for (const auto& [key, merged] : states) {
    if (merged.outcomes.size() < 2) continue;
    policy::StateView view = merged.state->view;
    for (std::size_t at = 0; at < view.proposals.size(); ++at) {
      const auto known = merged.after.find(view.proposals[at].text());
      if (known != merged.after.end()) view.after[at] = known->second;
    }
    const policy::EdgeFeatures features(layout, graph, merged.digest->device);
    std::vector<std::vector<float>> rows = features.rows(view);
    SiblingGroup group{merged.digest->family, key.first, key.second, view.history.empty(), {}};
    for (std::size_t at = 0; at < view.proposals.size(); ++at) {
      const auto known = merged.outcomes.find(view.proposals[at].text());
      if (known == merged.outcomes.end()) continue;
      const Outcome& outcome = known->second;
      group.edges.push_back({std::move(rows[at]), outcome.edge->verified,
                             std::clamp(outcome.edge->log_gain, kLeast, kMost),
                             std::clamp(outcome.best, kLeast, kMost)});
    }
    if (group.edges.size() >= 2) groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace regraph::learn
