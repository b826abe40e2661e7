// Sizes at which results are compared where the manifest says none.
#pragma once

#include "kernel/problem.h"

#include <cstdint>
#include <string>
#include <vector>

namespace regraph {

// A size symbol this small is a structural constant (a filter's width): it does not shrink with the
// others.
constexpr std::int64_t kStructuralSize = 32;

// Odd sizes that no tile divides, multiples of 64, and 1, each set once, with structural sizes as
// they are; then, for each structural size that is not fixed, a set in which it is one less. None
// is larger than the problem's own. Fewer symbols, and buffers that grow more slowly with them,
// allow larger extents at the same cost. Whether the problem can be set up at them is not looked
// at.
[[nodiscard]] std::vector<Symbols> derived_test_sizes(const Problem& problem);

// "{M: 70, N: 50}, {M: 1, N: 1}".
[[nodiscard]] std::string sizes_text(const std::vector<Symbols>& sets);

}  // namespace regraph
