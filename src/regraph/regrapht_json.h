// The JSON form in which ReGraphT (arXiv 2510.19873) keeps its graph of methods:
//
//   {"node": [{"index": 0, "name": "init state", "in": [], "out": [1]},
//             {"index": 1, "name": "Shared Memory Tiling", "in": [0], "out": []}],
//    "edge": [{"src": 0, "tgt": 1,
//              "examples": [{"name": ..., "think": ..., "detail": ..., "before": ..., "after":
//              ...}]}]}
//
// Node 0 is the code as it was given. Its program leaves edges that introduced a method out of
// "edge"; they are restored from the nodes' "in" and "out", without their examples.
#pragma once

#include "base/result.h"
#include "regraph/step_graph.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace regraph {

// A method being applied, as a language model described it.
struct ReGraphTExample {
  std::string name;    // of the kernel
  std::string think;   // why
  std::string detail;  // how
  std::string before;  // code
  std::string after;
  bool operator==(const ReGraphTExample&) const = default;
};

struct ReGraphTEdge {
  std::uint32_t source = 0;  // places in ReGraphTGraph::names
  std::uint32_t target = 0;
  std::vector<ReGraphTExample> examples;
  bool operator==(const ReGraphTEdge&) const = default;
};

struct ReGraphTGraph {
  std::vector<std::string> names;  // by index; the first is the initial state
  std::vector<ReGraphTEdge> edges;
  bool operator==(const ReGraphTGraph&) const = default;
};

// Reads the format; what it holds is kept whole. Every error is "name:line: what is wrong"
// (ErrorCode::parse) where the text is no JSON, else "name: edge[3].src: what is wrong". Any bytes
// are safe to pass.
[[nodiscard]] Result<ReGraphTGraph> parse_regrapht(std::string_view text, std::string_view name);

// Returns the JSON text; parse_regrapht gives back an equal graph.
[[nodiscard]] std::string regrapht_text(const ReGraphTGraph& graph);

// Makes a ReGraph of it. A method that `vocabulary` knows by any of its names becomes that step,
// with everything `vocabulary` says of it; two methods of one step become one. Others become steps
// of their own with the first example's detail as instruction. The format knows no gains: a
// transition's is that of `vocabulary`, else kUnknownGain; its weight is the number of examples, at
// least 1. Edges to the initial state are left out, as nothing leads to it. Error
// (invalid_argument): a method whose name has no letter or digit.
inline constexpr double kUnknownGain = 1.2;  // methods worth telling paid; how much is not known
[[nodiscard]] Result<StepGraph> to_regraph(const ReGraphTGraph& graph, const StepGraph& vocabulary);

// Steps by id and transitions without examples. Gains, evidence and statistics have no place in the
// format.
[[nodiscard]] ReGraphTGraph from_regraph(const StepGraph& graph);

}  // namespace regraph
