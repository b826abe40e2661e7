// Loops over chunks of constant length, as loops of that length.
#pragma once

#include "source/ir.h"

#include <optional>
#include <utility>

namespace regraph::rewrite {

// Returns the kernel's body with loops that begin anywhere and end a constant further on, or at
// another limit if that comes first, as loops from zero with a guard:
//   for (int i = t * 8; i < min(t * 8 + 8, n); ++i) b[i] = a[i];
//     ->   for (int k = 0; k < 8; ++k) { const int i = t * 8 + k; if (i < n) b[i] = a[i]; }
// The limits may be terms of the condition, too. For loops that leave nothing behind but elements
// of arrays; others stay, as do those where first value and limit could wrap around.
[[nodiscard]] source::Block with_constant_lengths(const source::Kernel& kernel);

// Both sides of a minimum in whatever form; nothing for other expressions.
[[nodiscard]] std::optional<std::pair<source::ExprPtr, source::ExprPtr>> sides_of_minimum(
    const source::ExprPtr& expr);

}  // namespace regraph::rewrite
