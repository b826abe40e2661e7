// Where the ReGraph of a session comes from, and how it is handed on.
#pragma once

#include "base/result.h"
#include "regraph/step_graph.h"
#include "session/installation.h"

#include <string>

namespace regraph {

// The word for the shipped graph without what it has learned.
inline constexpr const char* kPublishedGraph = "published";

// Loads `file`: kPublishedGraph, YAML, or for a name that ends in .json ReGraphT's format, whose
// methods the shipped graph's steps are recognised in. An empty name means the shipped graph.
// Errors: not_found, parse with file and place.
[[nodiscard]] Result<StepGraph> load_graph(const std::string& file,
                                           const Installation& installation);

// Writes the graph that load_graph gives to `target`: ReGraphT's format for .json, YAML for .yaml
// and .yml. Errors: invalid_argument for another ending, io, those of load_graph.
[[nodiscard]] Status export_graph(const std::string& file, const std::string& target,
                                  const Installation& installation);

}  // namespace regraph
