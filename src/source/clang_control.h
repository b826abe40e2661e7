// What a conversion has to know of statements before it takes them apart. Used by clang_convert.cpp.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>

#include <optional>
#include <set>
#include <vector>

namespace regraph::source {

// Whether a `continue` in the body of a loop goes on with that loop.
[[nodiscard]] bool has_continue(const clang::Stmt& body);

// One way of a switch: its labels, and what is done there, without the break at the end.
struct SwitchWay {
  std::vector<const clang::Expr*> labels;
  bool is_default = false;
  std::vector<const clang::Stmt*> statements;
};

// The ways of a switch of which none falls through into the next, with `default` last; nothing for
// any other.
[[nodiscard]] std::optional<std::vector<SwitchWay>> ways_of(const clang::SwitchStmt& choice);

// Variables of a function that have more than one value: assigned besides their declaration, or
// handed out to be. The step of the loop that declares a variable does not count: inside the body
// it has one.
[[nodiscard]] std::set<const clang::ValueDecl*> changing_variables(const clang::Stmt& body);

// Whether the place, of which a reference is made, stays the same place whatever happens.
[[nodiscard]] bool is_fixed_place(const clang::Expr& place,
                                  const std::set<const clang::ValueDecl*>& changing);

}  // namespace regraph::source
