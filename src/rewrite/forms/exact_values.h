// Integer expressions whose values are those that they have over the mathematical integers.
#pragma once

#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <optional>

namespace regraph::rewrite {

// The value as a polynomial of parameters, builtins, counters and locals with a single definition,
// if no arithmetic in it can wrap around: signed arithmetic may not, unsigned has to stay small
// enough. Nothing for other expressions.
[[nodiscard]] std::optional<Polynomial> exact_value(const ExprPtr& expr, const Kernel& kernel,
                                                    const Analysis& analysis);

// Whether the variable has one value, given to it before anybody asks: a parameter or a local that
// nothing changes, or a loop's counter in its loop.
[[nodiscard]] bool is_steady(const std::string& name, const Kernel& kernel,
                             const Analysis& analysis);

}  // namespace regraph::rewrite
