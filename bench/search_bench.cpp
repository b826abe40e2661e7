// The search core alone: simulations per second and bytes per simulation, evaluation costing
// nothing.
//
// Workload: a state is the sum of splitmix64(a + 1) over the steps a applied so far, so that orders
// of the same steps meet again; 16 steps a state, uniform priors, at most 40 deep; a state's score
// is the top 53 bits of splitmix64(key ^ 0xABCDEF) in [0, 1); PUCT with c = 1.25, untried edges
// count as 0. "graph" merges equal states, "tree" gives every path its own. Backup is the search's
// own (mean and best, lambda = 0.5) to all ancestors. Run on this workload, open_spiel's MCTSBot (a
// tree, mean backup) was seen to do 0.59 M simulations/s at 982 bytes each on a shared 2-core EPYC.
//
//   bin/search_bench --benchmark_repetitions=3
#include "base/random.h"
#include "search/selection.h"
#include "search/state_graph.h"

#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace regraph {
namespace {

constexpr int kSteps = 16;
constexpr std::uint32_t kMaxDepth = 40;

double score_of(std::uint64_t key) {
  return to_unit_interval(splitmix64(key ^ 0xABCDEF));
}

class Workload {
 public:
  Workload(bool merge, double max_share)
      : merge_(merge), graph_(max_share, 0.5), selector_(configuration()) {
    uniform_.fill({1.0 / kSteps, 1});
    const NodeId root = graph_.add_node({});
    graph_.set_measured(root, score_of(0));
    keys_.push_back(0);
  }

  void reserve(std::size_t simulations) {
    graph_.reserve(simulations + 1, simulations * kSteps / 2);
    keys_.reserve(simulations + 1);
  }

  // One simulation; returns its depth.
  std::size_t simulate() {
    path_.clear();
    NodeId at = kRootNode;
    for (;;) {
      const Selector::Descent end = selector_.descend(graph_, 0.0, path_, at);
      if (end == Selector::Descent::edge) break;
      if (end == Selector::Descent::blocked) return 0;
      graph_.open(at, uniform_);
    }
    const NodeId parent = path_.back().node;
    const std::uint32_t step = graph_.node(parent).next_slot;  // what begin() will return
    const std::uint64_t key = keys_[parent] + splitmix64(step + 1);
    const Hash128 identity{key, merge_ ? 0 : std::uint64_t{keys_.size()}};
    graph_.prefetch(identity);
    graph_.begin(path_);
    NodeId child = graph_.find(identity);
    if (child == kNoNode) {
      child = graph_.add_node(identity);
      graph_.set_measured(child, score_of(key));
      keys_.push_back(key);
      // Nothing to offer, known at once: found out by the next visit, that would be repeated.
      if (path_.size() >= kMaxDepth) graph_.open(child, {});
    } else {
      ++merges_;
    }
    graph_.finish(path_, child);
    return path_.size();
  }

  [[nodiscard]] const StateGraph& graph() const { return graph_; }
  [[nodiscard]] std::size_t merges() const { return merges_; }
  [[nodiscard]] std::size_t key_bytes() const { return keys_.size() * sizeof(keys_[0]); }

 private:
  static SelectionConfig configuration() {
    SelectionConfig config;
    config.exploration_first = config.exploration_last = 1.25;
    config.widening_factor = 0.0;
    config.value_range = {0.0, 1.0};
    config.first_play_value = 0.0;
    return config;
  }

  bool merge_;
  StateGraph graph_;
  Selector selector_;
  Path path_;
  std::array<EdgeSeed, kSteps> uniform_;
  std::vector<std::uint64_t> keys_;  // of the states, the workload's own
  std::size_t merges_ = 0;
};

void run(benchmark::State& state, bool merge) {
  const auto simulations = static_cast<std::size_t>(state.range(0));
  const double max_share = static_cast<double>(state.range(1)) / 100.0;
  double depth = 0.0;
  double bytes = 0.0;
  double nodes = 0.0;
  double merges = 0.0;
  for (auto _ : state) {
    Workload workload(merge, max_share);
    workload.reserve(simulations);
    std::size_t steps = 0;
    for (std::size_t simulation = 0; simulation < simulations; ++simulation) {
      steps += workload.simulate();
    }
    const auto total = static_cast<double>(simulations);
    depth = static_cast<double>(steps) / total;
    bytes = static_cast<double>(workload.graph().used_bytes() + workload.key_bytes()) / total;
    nodes = static_cast<double>(workload.graph().node_count()) / total;
    merges = static_cast<double>(workload.merges()) / total;
    benchmark::DoNotOptimize(workload.graph().node(kRootNode).value);
  }
  state.counters["simulations/s"] =
      benchmark::Counter(static_cast<double>(simulations) * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate);
  state.counters["bytes/simulation"] = bytes;
  state.counters["nodes/simulation"] = nodes;
  state.counters["merges/simulation"] = merges;
  state.counters["mean_depth"] = depth;
}

void graph(benchmark::State& state) {
  run(state, true);
}
void tree(benchmark::State& state) {
  run(state, false);
}

// Simulations, and lambda in percent: 50 is the search's own backup, 0 the mean that others use.
BENCHMARK(graph)
    ->ArgNames({"simulations", "lambda"})
    ->ArgsProduct({{20'000, 200'000, 1'000'000}, {50, 0}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(tree)
    ->ArgNames({"simulations", "lambda"})
    ->ArgsProduct({{200'000}, {50, 0}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace regraph

BENCHMARK_MAIN();
