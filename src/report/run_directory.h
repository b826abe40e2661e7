// The files a run leaves behind.
#pragma once

#include "base/result.h"
#include "report/run_report.h"

#include <filesystem>
#include <string>

namespace regraph {

// Whether a run could be written to `wanted` (empty: to regraph-runs under the current directory):
// makes the directory and a file in it, and takes both away again. Errors: invalid_argument when
// `wanted` exists and is not empty (nothing is overwritten), is a file, or cannot be made or
// written to; io when the system failed, e.g. the disk is full. The message names --output.
[[nodiscard]] Status try_run_directory(const std::string& wanted);

// Creates the directory for a run. An empty `wanted` means regraph-runs/KERNEL-N under the current
// directory with the first free N. Errors as of try_run_directory, and resource.
[[nodiscard]] Result<std::filesystem::path> create_run_directory(const std::string& wanted,
                                                                 const std::string& kernel);

// Removes a directory create_run_directory made, for runs that end without a result. A directory
// with files in it stays.
void abandon_run_directory(const std::filesystem::path& directory);

// Writes best.cu, best.regraph.yaml, best.diff, manifest.yaml, result.json and results.t4.json,
// and best.patch where there is one, each complete or not at all. Error: io.
[[nodiscard]] Status write_run_directory(const RunReport& report);

}  // namespace regraph
