// What a conversion has to know of statements before it takes them apart. Used by
// clang_statements.h.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>

#include <set>

namespace regraph::source {

// Whether a `continue` in the body of a loop goes on with that loop.
[[nodiscard]] bool has_continue(const clang::Stmt& body);

// Variables of a function that have more than one value: assigned besides their declaration, or
// handed out to be. The step of the loop that declares a variable does not count: inside the body
// it has one.
[[nodiscard]] std::set<const clang::ValueDecl*> changing_variables(const clang::Stmt& body);

// Whether the place, of which a reference is made, stays the same place whatever happens.
[[nodiscard]] bool is_fixed_place(const clang::Expr& place,
                                  const std::set<const clang::ValueDecl*>& changing);

}  // namespace regraph::source
