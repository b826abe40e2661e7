// Calls of the user's own device functions, taken into the kernel's body. Used by
// clang_convert.cpp.
//
//   total = block_sum(mine, slots);   becomes what block_sum does, with `mine` and `slots` for its
//                                     parameters, and total = what it returns
//
// Taken are functions that work with other threads or use memory, and those that are one
// expression. The statements of a call stand in front of the one that it is in: C++ leaves open
// what else of an expression is evaluated first. Where a call may not be evaluated, only one
// without statements is taken.
#pragma once

#include "source/clang_callees.h"
#include "source/clang_expressions.h"
#include "source/ir.h"

#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace regraph::source {

// Whether the type is a record, or refers to one, without anything in it.
[[nodiscard]] bool is_empty_record(clang::QualType type);

// What the conversion of statements does for calls that are taken into them.
class BodyConverter {
 public:
  virtual ~BodyConverter() = default;
  virtual void convert_into(const clang::Stmt* node, Block& block) = 0;
  // Declares a variable called like `declaration`, which uses of it mean from now on.
  virtual void declare(const clang::VarDecl& declaration, ExprPtr value, bool is_const,
                       Block& block) = 0;
  // A variable that the source does not have; its name.
  virtual std::string declare_result(const std::string& stem, clang::QualType type, ExprPtr value,
                                     Block& block) = 0;
  // Variables of the body that change are as those of the kernel.
  virtual void note_changing(const clang::Stmt& body) = 0;
  [[nodiscard]] virtual bool is_changing(const clang::ValueDecl& variable) const = 0;
};

class CallInliner {
 public:
  CallInliner(ExpressionConverter& expressions, BodyConverter& bodies)
      : expressions_(expressions), bodies_(bodies), callees_(expressions.context()) {}

  // Takes the calls within `expr`; their statements go to `block`, without which there may be none.
  void take_calls(const clang::Expr* expr, Block* block);

  // Whether the call is one to be taken.
  [[nodiscard]] bool takes(const clang::CallExpr& call) { return wanted(call) != nullptr; }
  // Whether something was to be taken that cannot be: then the body is of no use.
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] bool took_any() const { return took_any_; }
  // Inside a function's body, where names are looked up from elsewhere.
  [[nodiscard]] bool is_inside() const { return !active_.empty(); }

 private:
  using Fields = std::map<const clang::FieldDecl*, ExprPtr>;

  void take_call(const clang::CallExpr& call, Block* block);
  [[nodiscard]] const clang::FunctionDecl* wanted(const clang::CallExpr& call);
  bool bind(const clang::FunctionDecl& function, const std::vector<const clang::Expr*>& arguments,
            const clang::Expr* single, Block& block);
  bool bind_value(const clang::ParmVarDecl& parameter, const clang::Expr& argument,
                  const clang::Expr* single, Block& block);
  [[nodiscard]] bool is_value_of_parameters(const clang::Stmt& node);
  [[nodiscard]] bool stays_the_same(const clang::Stmt& node) const;
  ExprPtr convert_passed(const clang::Expr& argument);
  std::optional<Fields> fields_of(const clang::Expr& object, Block& block);
  ExprPtr field_value(const clang::FieldDecl& field, const clang::Expr& value, Block& block);
  bool convert_body(const std::vector<const clang::Stmt*>& body, const std::string& result,
                    clang::QualType type, ExprPtr* value, Block& block);

  ExpressionConverter& expressions_;
  BodyConverter& bodies_;
  CalleeEffects callees_;
  std::set<const clang::FunctionDecl*> active_;
  bool failed_ = false;
  bool took_any_ = false;
};

}  // namespace regraph::source
