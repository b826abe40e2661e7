// Naive kernels of a sequential function, and how they are launched.
#pragma once

#include "base/result.h"
#include "kernel/manifest.h"
#include "loops/sequential_function.h"

#include <string>
#include <utility>
#include <vector>

namespace regraph::loops {

struct LoweredFunction {
  std::string text;    // CUDA C++
  std::string kernel;  // the one to optimise: the deepest
  std::vector<Launch> launches;
  std::vector<std::pair<std::string, ManifestScratch>> scratch;
  std::vector<std::string> notes;  // what runs in parallel, and what that relies on
};

// Up to three loops of each nest become threads, the innermost of them along x; bounds become
// guards; other loops stay in the thread. Several nests are launched one after the other.
// `manifest` says which integers are no sizes (those with values), and what may be assumed. Error:
// unsupported, with the line: a nest of which no loop is proved parallel, with the iterations that
// meet; code that there is no kernel for.
[[nodiscard]] Result<LoweredFunction> lower_to_kernels(const SequentialFunction& function,
                                                       const Manifest& manifest);

}  // namespace regraph::loops
