// Test sizes beyond the manifest's, for candidates that take paths at a bench size which no test
// size takes.
#pragma once

#include "kernel/problem.h"

#include <cstdint>
#include <vector>

namespace regraph::verify {

// Sizes that are likely to take the paths of `bench` at little cost, cheapest first: with its
// remainders modulo powers of two, beyond the values that a candidate compares with (`compared`),
// and with single symbols or pairs of them as at the bench size; then the same with the other
// symbols as in the tests, cheapest first again. No symbol is larger than there, unless in a test.
// Sizes that are among the tests, or too large to run often, are left out. At most 48.
[[nodiscard]] std::vector<Symbols> sizes_like(const Problem& problem, const Symbols& bench,
                                              const std::vector<std::int64_t>& compared);

// Whether tests at these sizes are worth their time, and the problem allows them.
[[nodiscard]] bool is_affordable(const Problem& problem, const Symbols& symbols);

}  // namespace regraph::verify
