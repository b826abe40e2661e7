// Clang expressions -> IR expressions. Used by clang_statements.h.
#pragma once

#include "source/clang_callees.h"
#include "source/clang_objects.h"
#include "source/ir.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>
#include <clang/AST/PrettyPrinter.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace regraph::source {

// Returns the scalar type of a Clang type, or nothing (structs, pointers, vectors).
[[nodiscard]] std::optional<ScalarType> scalar_type_of(clang::QualType type);

// Whether the type is spelt with a name that a function declares: `using vec_t = float4;`.
[[nodiscard]] bool names_local_type(clang::QualType type, const clang::ASTContext& context);

// What an expression does besides having a value, as statements around the one that it is of.
struct SideEffects {
  std::set<const clang::Expr*> separable;  // (clang_effects.h)
  bool may_follow = false;                 // whether there is a place for statements behind it
  Block before;
  Block after;
};

// Converts expressions of one kernel. What the IR has no node for becomes opaque text. Its files
// are clang_expressions.cpp, clang_places.cpp and clang_calls.cpp.
class ExpressionConverter {
 public:
  // `opens`: for a body that calls are taken into (clang_inline.h).
  explicit ExpressionConverter(clang::ASTContext& context, bool opens = false);

  // Variables get the name that was set for their declaration.
  void set_name(const clang::ValueDecl* declaration, std::string name) {
    names_[declaration] = std::move(name);
  }
  [[nodiscard]] std::size_t name_count() const { return names_.size(); }
  // Variables that stand for something else: references.
  void set_meaning(const clang::ValueDecl* declaration, ExprPtr meaning) {
    meanings_[declaration] = std::move(meaning);
  }

  void forget_meaning(const clang::ValueDecl* declaration) { meanings_.erase(declaration); }
  [[nodiscard]] bool has_name(const clang::ValueDecl* declaration) const {
    return names_.contains(declaration);
  }
  // What calls come to that were taken into the body (clang_inline.h).
  void set_value(const clang::Expr* call, ExprPtr value) { values_[call] = std::move(value); }
  // What objects are that were taken apart: variables and parameters, what calls come to.
  void set_object(const clang::ValueDecl* declaration, Object object) {
    objects_[declaration] = std::move(object);
  }
  [[nodiscard]] bool has_object(const clang::ValueDecl* declaration) const {
    return objects_.contains(declaration);
  }
  void set_object_value(const clang::Expr* call, Object object) {
    object_values_[call] = std::move(object);
  }
  // The object whose method is converted; returns the one before.
  std::optional<Object> exchange_this(std::optional<Object> object) {
    return std::exchange(this_, std::move(object));
  }
  // The object at a place, if it was taken apart.
  [[nodiscard]] std::optional<Object> object_at(const clang::Expr* place);
  // Whether what is converted stands in a function that the kernel calls: names are written as the
  // kernel has to call them.
  void set_elsewhere(bool elsewhere) { elsewhere_ = elsewhere; }

  [[nodiscard]] ExprPtr convert(const clang::Expr* expr);
  // Side effects that can be separated go to `effects`; without it they are opaque.
  [[nodiscard]] ExprPtr convert(const clang::Expr* expr, SideEffects& effects);
  // {values}, for arrays and records; null for anything else.
  [[nodiscard]] ExprPtr convert_list(const clang::Expr* expr);
  // The element that a pointer leads to.
  [[nodiscard]] ExprPtr place_behind(const clang::Expr& pointer);
  // The spelling of a type as it may stand in the kernel.
  [[nodiscard]] std::string spelling_of(clang::QualType type) const;
  // Of a type that nobody wrote, as of `auto`: names that are known where it was written need not
  // be known in the kernel.
  [[nodiscard]] std::string spelling_of_deduced(clang::QualType type) const;

  // Line in the user's file.
  [[nodiscard]] int line_of(clang::SourceLocation location) const;
  [[nodiscard]] std::optional<int> constant_of(const clang::Expr* expr) const;
  // The source text, with macros as the user wrote them.
  [[nodiscard]] std::string text_of(clang::SourceRange range) const;
  // The same, with variables as they are called here.
  [[nodiscard]] std::string text_of(const clang::Stmt* node) const;

  [[nodiscard]] clang::ASTContext& context() const { return context_; }
  [[nodiscard]] const clang::PrintingPolicy& policy() const { return policy_; }

 private:
  // Its text.
  [[nodiscard]] ExprPtr opaque(const clang::Expr* node) const;
  // Without conversions and parentheses around it, of any type.
  [[nodiscard]] ExprPtr convert_bare(const clang::Expr* inner);
  [[nodiscard]] ExprPtr undecided_part(const clang::BinaryOperator& op);
  [[nodiscard]] bool is_same_type(const clang::Expr* one, const clang::Expr* other) const;
  [[nodiscard]] ExprPtr convert_unary(const clang::UnaryOperator* op);
  [[nodiscard]] ExprPtr convert_cast(const clang::ExplicitCastExpr* cast);
  // An assignment, ++ or -- inside an expression.
  [[nodiscard]] ExprPtr convert_effect(const clang::Expr* effect);

  // Variables, members and elements: clang_places.cpp.
  [[nodiscard]] ExprPtr convert_reference(const clang::DeclRefExpr* reference);
  // An enumerator whose type matters: its name, or null where the kernel cannot write it.
  [[nodiscard]] ExprPtr convert_enumerator(const clang::DeclRefExpr& reference) const;
  // The enumerator that a constant of an enumeration is; null where it is none, or the kernel
  // cannot write its name.
  [[nodiscard]] ExprPtr enumerator_of(const clang::Expr& constant) const;
  // threadIdx.x and its like.
  [[nodiscard]] ExprPtr convert_builtin(const clang::PseudoObjectExpr* pseudo) const;
  [[nodiscard]] ExprPtr convert_member(const clang::MemberExpr* access);
  // A name as the kernel has to write it; empty where it cannot.
  [[nodiscard]] static std::string global_name(const clang::NamedDecl& declaration);
  // An element of an array of objects, which may be of arrays itself.
  [[nodiscard]] std::optional<Object> element_of(const Object& array, clang::QualType type,
                                                 const ExprPtr& index) const;
  // The object that a member is of.
  [[nodiscard]] std::optional<Object> owner_of(const clang::MemberExpr& access);

  // Functions: clang_calls.cpp.
  [[nodiscard]] ExprPtr convert_call(const clang::CallExpr* call_expr);
  // An operator that the file defines for vectors and classes, as the call of a function:
  // "operator+".
  [[nodiscard]] ExprPtr convert_operator(const clang::CXXOperatorCallExpr* op);
  [[nodiscard]] ExprPtr convert_construct(const clang::CXXConstructExpr* construct);
  [[nodiscard]] ExprPtr hinted_place(const clang::CallExpr& call,
                                     const clang::FunctionDecl& callee);
  // A conversion function of a scalar type as a cast; null for other methods.
  [[nodiscard]] ExprPtr convert_conversion(const clang::CXXMemberCallExpr& call);
  // A call with what is known of the function.
  [[nodiscard]] ExprPtr known_call(const clang::FunctionDecl* callee, std::string name,
                                   std::vector<ExprPtr> arguments);
  // As written at the call, or in the macro that makes it.
  [[nodiscard]] std::string callee_text(const clang::Expr& callee) const;
  [[nodiscard]] bool names_local_argument(const clang::Expr& callee) const;
  [[nodiscard]] std::string written_arguments(const clang::Expr& callee) const;

  clang::ASTContext& context_;
  clang::PrintingPolicy policy_;
  CalleeEffects callees_;
  std::map<const clang::ValueDecl*, std::string> names_;
  std::map<const clang::ValueDecl*, ExprPtr> meanings_;
  std::map<const clang::Expr*, ExprPtr> values_;
  std::map<const clang::ValueDecl*, Object> objects_;
  std::map<const clang::Expr*, Object> object_values_;
  std::optional<Object> this_;
  bool opens_;
  bool elsewhere_ = false;
  SideEffects* effects_ = nullptr;
};

}  // namespace regraph::source
