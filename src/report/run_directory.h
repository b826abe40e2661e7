// The files a run leaves behind.
#pragma once

#include "base/result.h"
#include "report/run_report.h"

#include <filesystem>
#include <string>

namespace regraph {

// Creates the directory for a run. An empty `wanted` means regraph-runs/KERNEL-N under the current
// directory with the first free N. Errors: invalid_argument when `wanted` exists and is not empty
// (nothing is overwritten) or is a file, io, resource.
[[nodiscard]] Result<std::filesystem::path> create_run_directory(const std::string& wanted,
                                                                 const std::string& kernel);

// Removes a directory create_run_directory made, for runs that end without a result. A directory
// with files in it stays.
void abandon_run_directory(const std::filesystem::path& directory);

// Writes best.cu, best.regraph.yaml, best.diff, manifest.yaml, result.json and results.t4.json,
// and best.patch where there is one, each complete or not at all. Error: io.
[[nodiscard]] Status write_run_directory(const RunReport& report);

}  // namespace regraph
