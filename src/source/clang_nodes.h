// IR nodes as Clang has them: with its types, and without the folding that build.h does, as the
// gate compares PTX. Used where expressions are converted (clang_expressions.h).
#pragma once

#include "source/expressions.h"

#include <clang/AST/Type.h>

#include <cstdint>

namespace regraph::source {

// The expression with the type that Clang gives it, where that is a scalar.
[[nodiscard]] ExprPtr typed(const ExprPtr& expr, clang::QualType type);

// The value as a literal of `type`, spelt with its suffix; of int where that is no scalar.
[[nodiscard]] ExprPtr integer_literal(std::int64_t value, clang::QualType type);

// Nodes without a type, which `typed` gives them.
[[nodiscard]] ExprPtr plain_unary(UnaryOperator op, ExprPtr operand);
[[nodiscard]] ExprPtr plain_binary(BinaryOperator op, ExprPtr left, ExprPtr right);
[[nodiscard]] ExprPtr plain_subscript(ExprPtr base, ExprPtr index);

}  // namespace regraph::source
