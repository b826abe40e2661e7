// Clang expressions -> IR expressions. Used by clang_convert.cpp.
#pragma once

#include "source/ir.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>
#include <clang/AST/PrettyPrinter.h>

#include <map>
#include <optional>
#include <string>
#include <utility>

namespace regraph::source {

// Returns the scalar type of a Clang type, or nothing (structs, pointers, vectors).
[[nodiscard]] std::optional<ScalarType> scalar_type_of(clang::QualType type);

// Converts expressions of one kernel. What the IR has no node for becomes opaque text.
class ExpressionConverter {
 public:
  explicit ExpressionConverter(clang::ASTContext& context);

  // Variables get the name that was set for their declaration.
  void set_name(const clang::ValueDecl* declaration, std::string name) {
    names_[declaration] = std::move(name);
  }
  [[nodiscard]] std::size_t name_count() const { return names_.size(); }

  [[nodiscard]] ExprPtr convert(const clang::Expr* expr);

  // Line in the user's file.
  [[nodiscard]] int line_of(clang::SourceLocation location) const;
  [[nodiscard]] std::optional<int> constant_of(const clang::Expr* expr) const;
  // The source text, with macros as the user wrote them.
  [[nodiscard]] std::string text_of(clang::SourceRange range) const;

  [[nodiscard]] clang::ASTContext& context() const { return context_; }
  [[nodiscard]] const clang::PrintingPolicy& policy() const { return policy_; }

 private:
  [[nodiscard]] ExprPtr opaque(const clang::Expr* node) const;
  [[nodiscard]] ExprPtr convert_bare(const clang::Expr* inner);
  [[nodiscard]] ExprPtr convert_reference(const clang::DeclRefExpr* reference);
  [[nodiscard]] ExprPtr convert_builtin(const clang::PseudoObjectExpr* pseudo) const;
  [[nodiscard]] ExprPtr convert_unary(const clang::UnaryOperator* op);
  [[nodiscard]] ExprPtr convert_call(const clang::CallExpr* call_expr);
  [[nodiscard]] ExprPtr convert_operator(const clang::CXXOperatorCallExpr* op);

  clang::ASTContext& context_;
  clang::PrintingPolicy policy_;
  std::map<const clang::ValueDecl*, std::string> names_;
};

}  // namespace regraph::source
