#include "learn/sibling_groups.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace regraph::learn {

namespace {

constexpr double kLeast = -1.0;
constexpr double kMost = 1.5;

// The states of a run and the edges between them, those that led back left out.
class RunStates {
 public:
  explicit RunStates(const RunDigest& digest) {
    for (const DigestState& state : digest.states)
      by_id_.emplace(state.id, &state);
  }

  // R of an edge of `state` that led to another one.
  [[nodiscard]] double best_below(const DigestState& state, std::uint32_t child) const {
    const double own = state.view.log_speedup;
    double best = kLeast;
    double discount = 1.0;
    std::set<std::uint32_t> seen = {state.id, child};
    // Level by level, so that each state counts by its shortest way.
    for (std::vector<std::uint32_t> level = {child}; !level.empty(); discount *= kStepDiscount) {
      std::vector<std::uint32_t> next;
      for (const std::uint32_t id : level) {
        const auto known = by_id_.find(id);
        if (known == by_id_.end()) continue;
        const double gain = known->second->view.log_speedup - own;
        best = std::max(best, gain > 0.0 ? gain * discount : gain);
        for (const DigestEdge& edge : known->second->edges) {
          if (edge.child && !edge.repeats && seen.insert(*edge.child).second)
            next.push_back(*edge.child);
        }
      }
      level = std::move(next);
    }
    return best;
  }

 private:
  std::map<std::uint32_t, const DigestState*> by_id_;
};

// Of edges that repeat others, those back on the way; the rest led where a sibling had led.
bool leads_back(const DigestState& state, const DigestEdge& edge) {
  return edge.repeats && std::ranges::none_of(state.edges, [&](const DigestEdge& other) {
           return !other.repeats && other.child == edge.child;
         });
}

struct Outcome {
  const DigestEdge* edge = nullptr;
  double best = kLeast;
};
struct MergedState {
  const RunDigest* digest = nullptr;
  const DigestState* state = nullptr;       // of the first run that knew it
  std::map<std::string, Outcome> outcomes;  // by the proposal's text
  std::map<std::string, std::optional<policy::KernelShape>> after;
};

void merge(const RunDigest& digest,
           std::map<std::pair<std::string, std::string>, MergedState>& states) {
  const RunStates run(digest);
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
      } else if (edge.verified && edge.child && !leads_back(state, edge)) {
        value = std::max(edge.log_gain, run.best_below(state, *edge.child));
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
    SiblingGroup group{merged.digest->family, key.first, key.second,
                       view.history.empty(),  {},        merged.digest->derived};
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
