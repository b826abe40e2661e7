// What the body of a function looks like before it is taken into the kernel's. Used by
// clang_inline.h.
#pragma once

#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>

#include <vector>

namespace regraph::source {

// Whether the statement is a `return`, or one is below it.
[[nodiscard]] bool holds_return(const clang::Stmt& node);

// A body's statements, without the braces; none of null.
[[nodiscard]] std::vector<const clang::Stmt*> statements_of(const clang::Stmt* node);

// The value of a function that is `return value;`, null for others.
[[nodiscard]] const clang::Expr* single_value(const clang::FunctionDecl& function);

// How often the variable is mentioned; the node may be null.
[[nodiscard]] int uses_of(const clang::Stmt* node, const clang::ValueDecl& variable);

// Whether a member of the object itself is changed or handed out; the node may be null.
[[nodiscard]] bool changes_members(const clang::Stmt* node);

}  // namespace regraph::source
