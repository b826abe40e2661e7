// Loops over chunks of constant length, as loops of that length.
#pragma once

#include "rewrite/forms/ir.h"

#include <optional>
#include <utility>

namespace regraph::rewrite {

// Returns the kernel's body with loops that begin anywhere and end a constant further on, or at
// another limit if that comes first, as loops from zero with a guard:
//   for (int i = t * 8; i < min(t * 8 + 8, n); ++i) b[i] = a[i];
//     ->   for (int k = 0; k < 8; ++k) { const int i = t * 8 + k; if (i < n) b[i] = a[i]; }
// The limits may be terms of the condition, too, and where the first value is the largest of
// several, it begins with the one that lies a constant before the limit:
//   for (int y = max(p - 1, 0); y < min(p + 2, h); ++y) s += a[y];
//     ->  for (int k = 0; k < 3; ++k) { const int y = p - 1 + k; if (y < h && y >= 0) s += a[y]; }
// For loops that leave nothing behind but elements of arrays, and for short windows; others stay,
// as do those where first value and limit could wrap around.
[[nodiscard]] Block with_constant_lengths(const Kernel& kernel);

// Both sides of a minimum in whatever form; nothing for other expressions.
[[nodiscard]] std::optional<std::pair<ExprPtr, ExprPtr>> sides_of_minimum(const ExprPtr& expr);

}  // namespace regraph::rewrite
