// What all searchers over the state graph share: tickets, transpositions, merging. They differ in
// the EdgePolicy that chooses the next edge.
#pragma once

#include "search/searcher.h"

#include <map>
#include <unordered_map>

namespace regraph {

// An edge to try.
struct Choice {
  Path path;                     // DONE edges and an UNTRIED one at the end (kNextEdge)
  std::uint32_t slot = kNoSlot;  // of the UNTRIED one; kNoSlot: the one of the highest prior
};

// Chooses the edge to try next. The search asks again and again while results are outstanding, so a
// call that chooses nothing must leave no trace: the same graph must give the same next choice.
class EdgePolicy {
 public:
  virtual ~EdgePolicy() = default;
  // A copy that goes on by itself.
  [[nodiscard]] virtual std::unique_ptr<EdgePolicy> clone() const = 0;
  // A node's edges have become known.
  virtual void opened(NodeId node, std::span<const EdgeSeed> seeds) {
    static_cast<void>(node);
    static_cast<void>(seeds);
  }
  // A node has got an edge that was not chosen, and stands for none of its seeds.
  virtual void adopted(NodeId node, std::uint32_t step) {
    static_cast<void>(node);
    static_cast<void>(step);
  }
  // Sets `choice`, which is then begun. Returns false if nothing can be tried now.
  [[nodiscard]] virtual bool choose(const StateGraph& graph, double budget_fraction,
                                    Choice& choice) = 0;
};

class GraphSearcher final : public Searcher {
 public:
  GraphSearcher(const SelectionConfig& config, std::unique_ptr<EdgePolicy> policy)
      : graph_(config.max_share, config.variant_decay), policy_(std::move(policy)) {}
  GraphSearcher(const GraphSearcher& other);
  GraphSearcher& operator=(const GraphSearcher&) = delete;

  [[nodiscard]] std::unique_ptr<Searcher> clone() const override {
    return std::make_unique<GraphSearcher>(*this);
  }

  void start(const Hash128& identity, const Hash128& executable,
             std::span<const EdgeSeed> proposals) override;
  std::optional<Ticket> next(double budget_fraction) override;
  Commit commit_expansion(std::uint64_t ticket, const std::optional<Hash128>& identity) override;
  Commit commit_measurement(std::uint64_t ticket, const MeasurementResult& result) override;
  bool adopt(NodeId parent, NodeId child, std::uint32_t step) override;
  void abandon(std::uint64_t ticket) override;
  [[nodiscard]] bool exhausted() const override {
    return outstanding_.empty() && graph_.exhausted(kRootNode);
  }
  [[nodiscard]] const SearchCounts& counts() const override { return counts_; }
  [[nodiscard]] const StateGraph& graph() const override { return graph_; }
  [[nodiscard]] Status verify() const override;

 private:
  // An expansion that has not been resolved.
  struct Visit {
    Ticket expansion;
    Path path;
  };

  void open(NodeId node, std::span<const EdgeSeed> proposals);
  // Ends a visit at a node whose fate is known.
  void resolve(const Visit& visit, NodeId child, Commit& commit);

  StateGraph graph_;
  std::unique_ptr<EdgePolicy> policy_;
  SearchCounts counts_;
  std::uint64_t next_ticket_ = 0;
  std::map<std::uint64_t, Visit> outstanding_;              // by ticket, of either kind
  std::unordered_map<std::uint64_t, NodeId> measuring_;     // by MEASURE ticket
  std::unordered_map<NodeId, std::vector<Visit>> waiting_;  // for a node that is being measured
  std::unordered_map<Hash128, NodeId> by_executable_;
  std::vector<std::vector<std::uint32_t>> first_slots_;  // by node: of each proposal
};

// Descends by PUCT, see selection.h.
[[nodiscard]] std::unique_ptr<EdgePolicy> make_puct_policy(const SelectionConfig& config);

// Takes the untried edge of the highest prior at the node of the highest score that has one. Ties:
// the older node, the edge proposed first.
[[nodiscard]] std::unique_ptr<EdgePolicy> make_greedy_policy();

// Beam search: tries every step of every state of a level, then keeps the `width` best of the
// states it came to as the next level. When no new state is left below a level, the best states
// that were never kept are the next one, so that a budget is used up.
[[nodiscard]] std::unique_ptr<EdgePolicy> make_beam_policy(int width);

// Random walks from the original: a step drawn uniformly among those that can still lead to
// something new, then one of its parameter settings. Known results are walked over at no cost. A
// walk stays where a step failed and starts again with a chance of `restart` or at a dead end.
[[nodiscard]] std::unique_ptr<EdgePolicy> make_random_policy(double restart, std::uint64_t seed);

// The rule published for ReGraphT, see regrapht_policy.cpp.
[[nodiscard]] std::unique_ptr<EdgePolicy> make_regrapht_policy(const ReGraphTConfig& config,
                                                               std::uint64_t seed);

}  // namespace regraph
