#include "search/open_steps.h"

#include <algorithm>

namespace regraph {

void OpenSteps::opened(NodeId node, std::span<const EdgeSeed> seeds) {
  if (labels_.size() <= node) {
    labels_.resize(node + 1);
    slots_.resize(node + 1);
  }
  for (const EdgeSeed& seed : seeds) {
    const auto variants = static_cast<std::size_t>(std::max(seed.variants, 1));
    labels_[node].insert(labels_[node].end(), variants, {seed.step, seed.prior});
  }
}

void OpenSteps::adopted(NodeId node, std::uint32_t step) {
  slots_[node].push_back(static_cast<std::uint32_t>(labels_[node].size()));
  labels_[node].push_back({step, 0.0});
}

std::vector<OpenSteps::Option> OpenSteps::options(const StateGraph& graph, NodeId node) const {
  std::vector<Option> result;
  if (!graph.node(node).open) return result;
  for (std::uint32_t slot = 0; slot < graph.slot_count(node); ++slot) {
    if (!graph.untried(node, slot)) continue;
    const Label& label = labels_[node][slot];
    result.push_back({label.step, slot, {}, label.prior});
  }
  for (std::uint32_t place = 0; place < graph.node(node).issued; ++place) {
    const EdgeRef edge{node, place};
    const bool leads_on =
        graph.edge_state(edge) == EdgeState::done && !graph.exhausted(graph.child(edge));
    if (!leads_on) continue;
    const Label& label = labels_[node][slots_[node][place]];
    result.push_back({label.step, kNoSlot, edge, label.prior});
  }
  return result;
}

bool anything_untried(const StateGraph& graph) {
  for (NodeId id = 0; id < graph.node_count(); ++id) {
    if (graph.node(id).open && graph.node(id).next_slot != kNoSlot) return true;
  }
  return false;
}

}  // namespace regraph
