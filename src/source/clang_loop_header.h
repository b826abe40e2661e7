// What stands in the header of a `for` loop, and above it. Used by clang_loops.cpp and
// clang_statements.cpp.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>

#include <optional>
#include <vector>

namespace regraph::source {

// Adds the parts of an expression with commas; of any other the whole.
void take_apart(const clang::Expr* expr, std::vector<const clang::Expr*>& parts);

// Whether its header declares or advances more than one variable.
[[nodiscard]] bool has_several_parts(const clang::ForStmt& loop);

// Whether the header keeps the last of its counters whatever the condition asks about: the
// compiler sees them in the order in which they are declared and advanced.
[[nodiscard]] bool keeps_last(const clang::ForStmt& loop);

// Whether the condition, which may be null, is `declared < ...` or its like.
[[nodiscard]] bool is_asked_first(const clang::Expr* condition, const clang::Decl* declared);

// What the pragmas above a loop say of unrolling, as ForLoop::unroll has it; nothing where there is
// an attribute that the IR has no form for.
[[nodiscard]] std::optional<int> unroll_of(const clang::AttributedStmt* attributed,
                                           const clang::ASTContext& context);

}  // namespace regraph::source
