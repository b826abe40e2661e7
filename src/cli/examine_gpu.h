// The GPU's part of `regraph-search doctor`.
#pragma once

#include "base/cancellation.h"
#include "cli/doctor.h"

#include <string>
#include <vector>

namespace regraph::cli {

// Looks at the driver, the GPU's state and clocks, runs a kernel, reads its counters, and looks for
// compute-sanitizer. What is missing is a note: searches run without a GPU.
[[nodiscard]] std::vector<Finding> examine_gpu(const Installation& installation,
                                               const Cancellation& cancellation);

}  // namespace regraph::cli
