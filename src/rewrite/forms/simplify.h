// Code as somebody would have written it: what steps leave behind when they fill in numbers is
// worked out.
#pragma once

#include "rewrite/forms/ir.h"

#include <cstdint>
#include <optional>

namespace regraph::rewrite {

// Returns the body with
// - arithmetic of integer literals done, neutral terms and factors, divisions by 1 left out, where
//   the type stays what it was: i / 1 * 4 + 0 -> i * 4, i % 1 -> 0, (int)0 -> 0;
// - comparisons of literals, and what && || ! and ?: make of their outcome: c && 0 < 16 -> c;
// - branches that are always or never taken without their condition, loops of one iteration without
//   the loop, those of none left out. What may have an effect, or read memory that is volatile, stays.
// Floating-point arithmetic is left alone.
[[nodiscard]] Block simplified(const Block& body);

// What the comparison says of two numbers; nothing for operators of other kinds.
[[nodiscard]] std::optional<bool> comparison(BinaryOperator op, std::int64_t left,
                                             std::int64_t right);

}  // namespace regraph::rewrite
