// Where the ReGraph of a search comes from, and how it is handed on.
#pragma once

#include "base/result.h"
#include "regraph/regraph.h"

#include <string>

namespace regraph::cli {

// Loads `file`: YAML, or for a name that ends in .json ReGraphT's format, whose methods the shipped
// graph's steps are recognised in. An empty name means the shipped graph. `program` is the path
// this program was started by. Errors: not_found, parse with file and place.
[[nodiscard]] Result<ReGraph> load_graph(const std::string& file, const std::string& program);

// Writes the graph that load_graph gives to `target`: ReGraphT's format for .json, YAML for .yaml
// and .yml. Errors: invalid_argument for another ending, io, those of load_graph.
[[nodiscard]] Status export_graph(const std::string& file, const std::string& target,
                                  const std::string& program);

}  // namespace regraph::cli
