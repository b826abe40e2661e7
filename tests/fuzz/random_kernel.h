// Kernels made by lot: element types x statements x launches, each a sound one with its manifest.
#pragma once

#include "fuzz/mutate.h"

#include <string>

namespace regraph::fuzz {

struct RandomKernel {
  std::string source;
  std::string manifest;  // YAML
};

// The same state of `random` gives the same kernel.
[[nodiscard]] RandomKernel random_kernel(Random& random);

}  // namespace regraph::fuzz
