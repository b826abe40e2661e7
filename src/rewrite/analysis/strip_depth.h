// How many things a number of strips was made for.
#pragma once

#include "kernel/problem.h"
#include "source/analysis.h"
#include "source/polynomial.h"

#include <cstdint>
#include <optional>

namespace regraph::rewrite {

// n of a number of strips of `length` that is n / length, rounded up, for all n above zero, however
// that is written: (n + 15) / 16, (n - 1) / 16 + 1, ceil(n / 16.0f); k / 16 is that of k - 15.
// Nothing for other numbers. Single precision counts where it holds n at all sizes of the problem.
[[nodiscard]] std::optional<source::Polynomial> strip_depth(const source::ExprPtr& strips,
                                                            std::int64_t length,
                                                            const source::Analysis& analysis,
                                                            const Problem& problem);

}  // namespace regraph::rewrite
