// The names of sizes that a user gives by hand.
#pragma once

#include "kernel/manifest.h"
#include "kernel/problem.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regraph {

// Those of `names` that are spelt most like `wrong`, the likest first, `most` at most.
[[nodiscard]] std::vector<std::string> nearest_names(std::string_view wrong,
                                                     const std::vector<std::string>& names,
                                                     std::size_t most = 3);

// Why one of the sizes in `given` (names, of --size) is a mistake: nothing in the problem depends
// on it. It is no integer parameter of a kernel, and in no shape, grid, macro or counter. Nothing
// where all are used.
[[nodiscard]] std::optional<std::string> unused_size(const std::vector<std::string>& given,
                                                     const Manifest& manifest,
                                                     const Problem& problem,
                                                     const std::vector<KernelSignature>& kernels);

}  // namespace regraph
