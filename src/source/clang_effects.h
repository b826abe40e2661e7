// Assignments and steps inside expressions, which the IR has as statements before or after the one
// that the expression is of. Used by clang_expressions.h and clang_statements.h.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>

#include <optional>
#include <set>

namespace regraph::source {

// The assignments, ++ and -- within `expr` that may be done on their own before
// or after the rest: they are done whenever the expression is evaluated, and nothing else in it
// mentions the variable that they change.
[[nodiscard]] std::set<const clang::Expr*> separable_effects(const clang::Expr& expr);

// Whether there is any such node in the expression, separable or not, itself included.
[[nodiscard]] bool has_effects(const clang::Expr& expr);

// What the condition is wherever it is asked, as `kBias && x` is for a constant kBias of false;
// nothing where that depends, or where asking does anything.
[[nodiscard]] std::optional<bool> decided(const clang::Expr& condition,
                                          const clang::ASTContext& context);

// Whether the expression is what assert() stands for, of a condition that changes nothing.
[[nodiscard]] bool is_assertion(const clang::Expr& expr);

}  // namespace regraph::source
