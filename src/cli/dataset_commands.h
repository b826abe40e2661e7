// The commands of regraph-dataset.
#pragma once

#include "cli/dataset_options.h"
#include "cli/program.h"

#include <string>

namespace regraph::cli {

// Runs, kernels with --walks, and other data sets, made into one. Returns the exit code, here and
// below.
[[nodiscard]] int dataset_build(const Program& program, const DatasetOptions& options);
// Slow versions of the kernels as a data set.
[[nodiscard]] int dataset_slowdown(const Program& program, const DatasetOptions& options);
// One source, in a process of its own: `text` is the request on standard input.
[[nodiscard]] int dataset_unit(const Program& program, const std::string& text,
                               const FleetFlags& flags);
// Executes pairs of a data set again.
[[nodiscard]] int dataset_verify(const Program& program, const DatasetOptions& options);
// A pair with its difference and its evidence.
[[nodiscard]] int dataset_show(const Program& program, const DatasetOptions& options);
[[nodiscard]] int dataset_generate(const Program& program, const DatasetOptions& options);

}  // namespace regraph::cli
