// Values of sizes that only a launch is made of.
#pragma once

#include "kernel/manifest.h"

#include <string>
#include <vector>

namespace regraph::infer {

// Halves the sizes called `names`, the largest first, until the manifest's launch has no more than
// 2^24 threads, no buffer more than 2^24 elements, and a block no more than 48 KiB of dynamic
// shared memory, which it has without asking the driver. What cannot be evaluated is left as it is.
void shrink_grid_sizes(const std::vector<std::string>& names, Manifest& manifest);

}  // namespace regraph::infer
