// The YAML form of a ReGraph. Documented by example in graphs/cuda.yaml:
//
//   format: regraph/1
//   steps:
//     - id: smem_pad
//       name: ...                     # required: id, name, what, legality, instruction
//       aliases: [bank conflict fix]
//       parameters: {pad: [1, 4]}
//       evidence: [{fact: shared_wavefronts_over_ideal, op: ">", value: 1, required: true}]
//       rewriter: true
//   transitions:
//     - {from: smem_tile, to: smem_pad, gain: 1.1, weight: 2,
//        learned: {predicted: {h200: {families: 3, kernels: 5, observations: 9, sum_positive: 0.4,
//                                     tries: 14, verified: 14, sum_log_gain: -0.2}}}}
//
// A step may have `learned`, too; `learned_from` beside them names the table of observations.
// A transition may have `examples`, each with `before` and `after` (transition_example.h).
#pragma once

#include "base/result.h"
#include "regraph/step_graph.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace regraph {

// Reads a graph from `text`. Every error is "name:line: what is wrong" (ErrorCode::parse): bad
// YAML, an unknown or missing key, a value out of range, an unknown fact, operator or step, a
// duplicate. Any bytes are safe to pass.
[[nodiscard]] Result<StepGraph> parse_regraph(std::string_view text, std::string_view name);

// Reads a file. Errors as parse_regraph, or not_found.
[[nodiscard]] Result<StepGraph> load_regraph(const std::filesystem::path& path);

// Returns the YAML text; parse_regraph gives back an equal graph.
[[nodiscard]] std::string regraph_text(const StepGraph& graph);

// Writes the file so that a reader never sees half of it (temporary file, then rename). Error: io.
[[nodiscard]] Status save_regraph(const StepGraph& graph, const std::filesystem::path& path);

}  // namespace regraph
