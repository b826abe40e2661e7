#include "search/graph_searcher.h"

#include <algorithm>
#include <cassert>

namespace regraph {

GraphSearcher::GraphSearcher(const GraphSearcher& other)
    : graph_(other.graph_),
      policy_(other.policy_->clone()),
      counts_(other.counts_),
      next_ticket_(other.next_ticket_),
      outstanding_(other.outstanding_),
      measuring_(other.measuring_),
      waiting_(other.waiting_),
      by_executable_(other.by_executable_),
      first_slots_(other.first_slots_) {}

void GraphSearcher::start(const Hash128& identity, const Hash128& executable,
                          std::span<const EdgeSeed> proposals) {
  assert(graph_.node_count() == 0);
  const NodeId root = graph_.add_node(identity);
  graph_.set_measured(root, 0.0);
  if (executable != Hash128{}) by_executable_.emplace(executable, root);
  open(root, proposals);
}

void GraphSearcher::open(NodeId node, std::span<const EdgeSeed> proposals) {
  graph_.open(node, proposals);
  if (first_slots_.size() <= node) first_slots_.resize(node + 1);
  std::uint32_t slot = 0;
  for (const EdgeSeed& seed : proposals) {
    first_slots_[node].push_back(slot);
    slot += static_cast<std::uint32_t>(std::max(seed.variants, 1));
  }
  policy_->opened(node, proposals);
}

std::optional<Ticket> GraphSearcher::next(double budget_fraction) {
  Choice choice;
  if (!policy_->choose(graph_, budget_fraction, choice)) return std::nullopt;
  const std::uint32_t slot = graph_.begin(choice.path, choice.slot);
  Visit visit;
  visit.path = std::move(choice.path);
  const NodeId parent = visit.path.back().node;
  const std::vector<std::uint32_t>& first_slots = first_slots_[parent];
  const auto proposal = std::ranges::upper_bound(first_slots, slot) - first_slots.begin() - 1;
  Ticket& ticket = visit.expansion;
  ticket.number = next_ticket_++;
  ticket.parent = parent;
  ticket.proposal = static_cast<std::uint32_t>(proposal);
  ticket.variant = slot - first_slots[ticket.proposal];
  const Ticket issued = ticket;
  outstanding_.emplace(issued.number, std::move(visit));
  return issued;
}

void GraphSearcher::resolve(const Visit& visit, NodeId child, Commit& commit) {
  Resolution resolution{visit.expansion, EdgeState::failed, child};
  if (child != kNoNode && graph_.node(child).state == NodeState::measured) {
    resolution.edge = graph_.finish(visit.path, child);
    counts_.duplicates += resolution.edge == EdgeState::duplicate ? 1 : 0;
    counts_.back_edges += resolution.edge == EdgeState::back ? 1 : 0;
  } else {
    graph_.finish_failed(visit.path);
  }
  commit.resolved.push_back(resolution);
}

Commit GraphSearcher::commit_expansion(std::uint64_t ticket,
                                       const std::optional<Hash128>& identity) {
  const auto found = outstanding_.find(ticket);
  assert(found != outstanding_.end() && found->second.expansion.number == ticket);
  Visit visit = std::move(found->second);
  outstanding_.erase(found);
  ++counts_.expansions;

  Commit commit;
  if (!identity) {
    resolve(visit, kNoNode, commit);
    return commit;
  }
  const NodeId known = graph_.find(*identity);
  if (known == kNoNode) {
    Ticket measure = visit.expansion;
    measure.number = next_ticket_++;
    measure.kind = TicketKind::measure;
    measure.node = graph_.add_node(*identity);
    outstanding_.emplace(measure.number, std::move(visit));
    measuring_.emplace(measure.number, measure.node);
    waiting_.emplace(measure.node, std::vector<Visit>{});
    commit.measure = measure;
    return commit;
  }
  ++counts_.transpositions;
  if (graph_.node(known).state == NodeState::in_flight) {
    waiting_.at(known).push_back(std::move(visit));
  } else {
    resolve(visit, known, commit);
  }
  return commit;
}

Commit GraphSearcher::commit_measurement(std::uint64_t ticket, const MeasurementResult& result) {
  const auto found = outstanding_.find(ticket);
  assert(found != outstanding_.end() && found->second.expansion.number != ticket);
  const Visit visit = std::move(found->second);
  outstanding_.erase(found);
  ++counts_.measurements;

  const NodeId node = measuring_.extract(ticket).mapped();
  if (!result.correct) {
    graph_.set_failed(node);
  } else {
    const bool has_executable = result.executable != Hash128{};
    const auto same =
        has_executable ? by_executable_.find(result.executable) : by_executable_.end();
    if (same != by_executable_.end()) {
      ++counts_.machine_code_merges;
      graph_.set_alias(node, same->second);
    } else {
      if (has_executable) by_executable_.emplace(result.executable, node);
      graph_.set_measured(node, result.score);
      open(node, result.proposals);
    }
  }
  const NodeId child =
      graph_.node(node).state == NodeState::alias ? graph_.find(graph_.identity(node)) : node;
  Commit commit;
  resolve(visit, child, commit);
  const auto waiting = waiting_.extract(node);
  for (const Visit& other : waiting.mapped())
    resolve(other, child, commit);
  return commit;
}

bool GraphSearcher::adopt(NodeId parent, NodeId child, std::uint32_t step) {
  if (parent == kNoNode || !graph_.adopt(parent, child)) return false;
  policy_->adopted(parent, step);
  return true;
}

void GraphSearcher::abandon(std::uint64_t ticket) {
  const auto found = outstanding_.find(ticket);
  if (found == outstanding_.end()) return;
  graph_.abandon(found->second.path);
  outstanding_.erase(found);
  const auto measured = measuring_.find(ticket);
  if (measured == measuring_.end()) return;
  const NodeId node = measured->second;
  measuring_.erase(measured);
  const auto waiting = waiting_.extract(node);
  for (const Visit& other : waiting.mapped())
    graph_.abandon(other.path);
  graph_.set_failed(node);  // never judged; no edge leads here
}

Status GraphSearcher::verify() const {
  std::uint64_t in_flight = 0;
  for (const auto& [ticket, visit] : outstanding_)
    in_flight += visit.path.size();
  for (const auto& [node, visits] : waiting_) {
    for (const Visit& visit : visits)
      in_flight += visit.path.size();
  }
  return graph_.verify_invariants(in_flight);
}

}  // namespace regraph
