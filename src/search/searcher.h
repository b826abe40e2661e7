// The search proper, as a pure state machine: (configuration, sequence of commits) -> next tickets.
// No threads, no clock, no input or output; random numbers by seed and counter alone; states are
// opaque node numbers.
//
// A step is tried in two tickets. EXPAND asks for the result of a proposal at a node. If its
// identity is new, committing it yields a MEASURE ticket; if the state is known the edge is linked
// at once.
//
//   start() -> next() -> [work] -> commit(expansion) -> [work] -> commit(measurement) -> next() ...
#pragma once

#include "base/hash.h"
#include "base/result.h"
#include "search/config.h"
#include "search/state_graph.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace regraph {

class EdgePolicy;

enum class TicketKind : std::uint8_t { expand, measure };

struct Ticket {
  std::uint64_t number = 0;  // counts up from 0 in the order tickets are issued
  TicketKind kind = TicketKind::expand;
  NodeId parent = kNoNode;     // apply the proposal to this node
  std::uint32_t proposal = 0;  // index among those the node was opened with
  std::uint32_t variant = 0;
  NodeId node = kNoNode;  // measure this one; none for expand
};

// What became of an EXPAND ticket in the end.
struct Resolution {
  Ticket expansion;
  EdgeState edge = EdgeState::failed;  // done, failed, duplicate or back
  NodeId child = kNoNode;              // that the edge led to, kNoNode when the step was refused
};

// What a commit led to.
struct Commit {
  std::optional<Ticket> measure;     // to be carried out next
  std::vector<Resolution> resolved;  // in order of their tickets
};

struct MeasurementResult {
  bool correct = false;
  double score = 0.0;  // ln(original time / time); ignored unless correct
  Hash128 executable;  // equal for states that run the same machine code in the same way,
                       // {0, 0} when unknown
  std::vector<EdgeSeed> proposals;  // steps to try from here; ignored unless correct
};

struct SearchCounts {
  int expansions = 0;           // committed
  int measurements = 0;         // committed
  int transpositions = 0;       // expansions that gave a known state
  int machine_code_merges = 0;  // measurements that gave a known executable
  int duplicates = 0;
  int back_edges = 0;
};

class Searcher {
 public:
  virtual ~Searcher() = default;
  // A copy that goes on by itself from here.
  [[nodiscard]] virtual std::unique_ptr<Searcher> clone() const = 0;

  // Adds the original as node 0 with score 0. Call once, first.
  virtual void start(const Hash128& identity, const Hash128& executable,
                     std::span<const EdgeSeed> proposals) = 0;

  // Returns the next EXPAND ticket, or nothing while every choice is under way or when exhausted().
  // `budget_fraction` is the share of the budget used, 0 to 1.
  [[nodiscard]] virtual std::optional<Ticket> next(double budget_fraction) = 0;

  // Commits the outcome of an EXPAND ticket: the identity of the new state, or none if refused.
  virtual Commit commit_expansion(std::uint64_t ticket, const std::optional<Hash128>& identity) = 0;

  // Commits the outcome of a MEASURE ticket.
  virtual Commit commit_measurement(std::uint64_t ticket, const MeasurementResult& result) = 0;

  // Gives a measured node a second parent, see StateGraph::adopt. `step`: as EdgeSeed::step.
  virtual bool adopt(NodeId parent, NodeId child, std::uint32_t step) = 0;

  // Withdraws an outstanding ticket, and every other that waits for its result.
  virtual void abandon(std::uint64_t ticket) = 0;

  // Whether no ticket is outstanding and none can ever be issued.
  [[nodiscard]] virtual bool exhausted() const = 0;

  [[nodiscard]] virtual const SearchCounts& counts() const = 0;
  [[nodiscard]] virtual const StateGraph& graph() const = 0;
  // Checks the graph's invariants and that visits under way match outstanding tickets.
  [[nodiscard]] virtual Status verify() const = 0;
};

// A search method that can be asked for by its name. Those there are stand in searcher.cpp.
struct SearchMethod {
  const char* name;
  const char* description;  // a line for people
  // The rule by which its searcher chooses the next edge.
  std::unique_ptr<EdgePolicy> (*make_policy)(const SelectionConfig& config, std::uint64_t seed);
  bool draws_lots = false;   // what it finds depends on the seed
  bool heeds_priors = true;  // what it finds depends on them
};

// The default, mcgs, first.
[[nodiscard]] std::span<const SearchMethod> search_methods();
// "mcgs, greedy, ..."
[[nodiscard]] std::string search_method_names();

// Makes the searcher of the method called `name`. `seed` decides what methods draw that draw lots.
// Error (invalid_argument): an unknown name; the message lists the known ones.
[[nodiscard]] Result<std::unique_ptr<Searcher>> make_searcher(std::string_view name,
                                                              const SelectionConfig& config,
                                                              std::uint64_t seed = 0);

}  // namespace regraph
