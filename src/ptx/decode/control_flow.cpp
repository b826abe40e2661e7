#include "ptx/decode/control_flow.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace regraph::ptx {
namespace {

constexpr std::uint32_t kNone = 0xffffffffU;

using Graph = std::vector<std::vector<std::uint32_t>>;

// Post-order of what is reachable from `root`, without recursion.
std::vector<std::uint32_t> post_order(const Graph& graph, std::uint32_t root) {
  std::vector<std::uint32_t> order;
  std::vector<bool> seen(graph.size(), false);
  std::vector<std::pair<std::uint32_t, std::size_t>> stack{{root, 0}};
  seen[root] = true;
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    if (next < graph[node].size()) {
      const std::uint32_t successor = graph[node][next++];
      if (!seen[successor]) {
        seen[successor] = true;
        stack.emplace_back(successor, 0);
      }
    } else {
      order.push_back(node);
      stack.pop_back();
    }
  }
  return order;
}

// Immediate dominators (Cooper, Harvey, Kennedy: "A simple, fast dominance algorithm", 2001).
std::vector<std::uint32_t> immediate_dominators(const Graph& successors, const Graph& predecessors,
                                                std::uint32_t root) {
  const std::vector<std::uint32_t> order = post_order(successors, root);
  std::vector<std::uint32_t> number(successors.size(), kNone);
  for (std::uint32_t i = 0; i < order.size(); ++i)
    number[order[i]] = i;
  std::vector<std::uint32_t> dominator(successors.size(), kNone);
  dominator[root] = root;
  bool changed = true;
  while (changed) {
    changed = false;
    for (auto node = order.rbegin(); node != order.rend(); ++node) {
      if (*node == root) continue;
      std::uint32_t best = kNone;
      for (std::uint32_t predecessor : predecessors[*node]) {
        if (number[predecessor] == kNone || dominator[predecessor] == kNone) continue;
        if (best == kNone) {
          best = predecessor;
          continue;
        }
        std::uint32_t other = predecessor;
        while (best != other) {
          while (number[best] < number[other])
            best = dominator[best];
          while (number[other] < number[best])
            other = dominator[other];
        }
      }
      if (best != dominator[*node]) {
        dominator[*node] = best;
        changed = true;
      }
    }
  }
  return dominator;
}

void split_blocks(const std::vector<FlowEffect>& effects, ControlFlow& flow) {
  const auto count = static_cast<std::uint32_t>(effects.size());
  std::vector<bool> leader(count + 1, false);
  leader[0] = true;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (effects[i].kind == FlowEffect::Kind::none) continue;
    leader[i + 1] = true;
    for (std::uint32_t target : effects[i].targets)
      leader[target] = true;
  }
  flow.block_of.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (leader[i]) flow.blocks.push_back(BasicBlock{i, i, {}, kNone, 0});
    flow.blocks.back().last = i + 1;
    flow.block_of[i] = static_cast<std::uint32_t>(flow.blocks.size()) - 1;
  }
}

}  // namespace

ControlFlow analyse_control_flow(const std::vector<FlowEffect>& effects,
                                 const std::vector<std::uint32_t>& entries) {
  ControlFlow flow;
  if (effects.empty()) return flow;
  split_blocks(effects, flow);
  const auto count = static_cast<std::uint32_t>(flow.blocks.size());
  const std::uint32_t exit = count;
  // With several entries a root of its own stands before them.
  const std::uint32_t root = entries.size() > 1 ? count + 1 : 0;
  Graph successors(count + 2);
  Graph predecessors(count + 2);
  if (root != 0) {
    for (const std::uint32_t entry : entries) {
      successors[root].push_back(flow.block_of[entry]);
      predecessors[flow.block_of[entry]].push_back(root);
    }
  }
  for (std::uint32_t b = 0; b < count; ++b) {
    const FlowEffect& effect = effects[flow.blocks[b].last - 1];
    const auto connect = [&](std::uint32_t instruction) {
      const std::uint32_t to = instruction < effects.size() ? flow.block_of[instruction] : exit;
      if (std::find(successors[b].begin(), successors[b].end(), to) != successors[b].end()) return;
      successors[b].push_back(to);
      predecessors[to].push_back(b);
      if (to != exit) flow.blocks[b].successors.push_back(to);
    };
    if (effect.kind == FlowEffect::Kind::exit) connect(static_cast<std::uint32_t>(effects.size()));
    for (std::uint32_t target : effect.targets)
      connect(target);
    if (effect.kind == FlowEffect::Kind::none || effect.conditional) connect(flow.blocks[b].last);
  }
  // Post-dominators are dominators of the reversed graph, from the exit. Blocks of an endless loop
  // never reach it and keep none: their lanes need not meet.
  const auto post = immediate_dominators(predecessors, successors, exit);
  for (std::uint32_t b = 0; b < count; ++b) {
    if (post[b] != exit) flow.blocks[b].reconvergence = post[b];
  }
  // Natural loops: a back edge's target dominates its source; the body reaches the source without
  // passing the header. Loops that share a header count once.
  const auto dominator = immediate_dominators(successors, predecessors, root);
  const auto dominates = [&](std::uint32_t a, std::uint32_t b) {
    while (b != root && b != kNone && b != a)
      b = dominator[b];
    return b == a;
  };
  // Loops with different headers lie inside each other or apart: a block's innermost is the
  // smallest that holds it, and a loop's parent the smallest of the others that hold its header.
  std::vector<std::uint32_t> size_around(count, kNone);
  std::vector<std::int32_t> around(count, -1);
  std::vector<std::uint32_t> size_of(count, kNone);
  for (std::uint32_t header = 0; header < count; ++header) {
    std::vector<std::uint32_t> work;
    for (std::uint32_t source : predecessors[header]) {
      if (source == root && root != 0) continue;
      if (dominator[source] != kNone && dominates(header, source)) work.push_back(source);
    }
    if (work.empty()) continue;
    std::vector<bool> body(count, false);
    body[header] = true;
    std::uint32_t size = 1;
    while (!work.empty()) {
      const std::uint32_t block = work.back();
      work.pop_back();
      if (body[block]) continue;
      body[block] = true;
      ++size;
      for (std::uint32_t predecessor : predecessors[block]) {
        if (predecessor < count) work.push_back(predecessor);
      }
    }
    const auto loop = static_cast<std::int32_t>(flow.loops.size());
    flow.loops.push_back({header, -1});
    for (std::uint32_t b = 0; b < count; ++b) {
      if (!body[b]) continue;
      ++flow.blocks[b].loop_depth;
      if (size < size_of[b]) {
        size_of[b] = size;
        flow.blocks[b].loop = loop;
      }
      if (b != header && size < size_around[b]) {
        size_around[b] = size;
        around[b] = loop;
      }
    }
  }
  for (NaturalLoop& loop : flow.loops)
    loop.parent = around[loop.header];
  return flow;
}

}  // namespace regraph::ptx
