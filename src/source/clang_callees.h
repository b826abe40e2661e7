// What functions that a kernel calls may do, read off their bodies. Used by clang_expressions.cpp.
#pragma once

#include "source/expressions.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>

#include <map>

namespace regraph::source {

// The function that is called: also through a constant that is its address, or an element of a
// table of such (`const op_t ops[2] = {sq, cube}; ops[1](x)`). Null where that is not known.
[[nodiscard]] const clang::FunctionDecl* called_function(const clang::CallExpr& call,
                                                         const clang::ASTContext& context);

// Whether the assembler computes its outputs from its inputs and does nothing else: known
// instructions, no special registers, no clobbers.
[[nodiscard]] bool is_pure_assembler(const clang::AsmStmt& statement);

class CalleeEffects {
 public:
  explicit CalleeEffects(const clang::ASTContext& context) : context_(context) {}

  // Of a function with a body in the user's file what the body, and those of the functions that it
  // calls, can do; of CUDA's and the standard library's headers what their signatures promise.
  // CallEffect::by_name where only its name is known.
  [[nodiscard]] CallEffect of(const clang::FunctionDecl& function);

 private:
  struct Deeds {
    bool anything = false;     // threads, barriers, assembler, state
    bool globals = false;      // reads or writes variables of the file
    bool through = false;      // reads or writes through pointers and references that it is given
    bool may_not_end = false;  // nothing is seen that ends a loop
    void add(const Deeds& other);
  };

  [[nodiscard]] Deeds deeds_of(const clang::FunctionDecl& function);
  [[nodiscard]] Deeds deeds_of_header(const clang::FunctionDecl& function) const;
  void look_at(const clang::Stmt* node, Deeds& deeds);
  void look_at_call(const clang::CallExpr& call, Deeds& deeds);
  [[nodiscard]] bool is_users(const clang::FunctionDecl& function) const;

  const clang::ASTContext& context_;
  std::map<const clang::FunctionDecl*, Deeds> known_;
};

}  // namespace regraph::source
