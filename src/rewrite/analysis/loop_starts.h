// What variables hold when a loop begins. Used by online_loops.
#pragma once

#include "source/ir.h"

#include <string>

namespace regraph::rewrite {

// The value that the last statement in front of position `before` gives the variable; null where
// that is not known.
[[nodiscard]] source::ExprPtr start_of(const source::Block& block, std::size_t before,
                                       const std::string& name);

// Whether the variable, or every element of an array, is zero there.
[[nodiscard]] bool starts_from_zero(const source::Block& block, std::size_t before,
                                    const source::Variable& variable);

// Whether the expression is a number, and no infinite one.
[[nodiscard]] bool is_finite_number(const source::ExprPtr& expr);

}  // namespace regraph::rewrite
