// Rebuilding the IR: override `mutate` for the kinds that change, and call the base's for what lies
// below them.
//
//   class Renamer : public Mutator {
//     ExprPtr mutate(const ExprPtr& expr, const VariableReference& variable) override { ... }
//   };
#pragma once

#include "source/ir.h"

namespace regraph::source {

// Each `mutate` gets the shared pointer and the node it points to. By default it rebuilds the
// children and returns the node itself where none of them changed, so that what does not change is
// shared. `run` passes null through.
class Mutator {
 public:
  virtual ~Mutator() = default;

  [[nodiscard]] ExprPtr run(const ExprPtr& expr);
  [[nodiscard]] StmtPtr run(const StmtPtr& stmt);
  // Statement by statement. To replace one by several or by none, override `append`.
  [[nodiscard]] virtual Block run(const Block& block);

 protected:
  // Adds what stands in place of the statement to the block that is being built.
  virtual void append(const StmtPtr& stmt, Block& out) { out.push_back(run(stmt)); }

  virtual ExprPtr mutate(const ExprPtr& expr, const IntegerLiteral&) { return expr; }
  virtual ExprPtr mutate(const ExprPtr& expr, const FloatingLiteral&) { return expr; }
  virtual ExprPtr mutate(const ExprPtr& expr, const VariableReference&) { return expr; }
  virtual ExprPtr mutate(const ExprPtr& expr, const Builtin&) { return expr; }
  virtual ExprPtr mutate(const ExprPtr& expr, const Unary& unary);
  virtual ExprPtr mutate(const ExprPtr& expr, const Binary& binary);
  virtual ExprPtr mutate(const ExprPtr& expr, const Conditional& conditional);
  virtual ExprPtr mutate(const ExprPtr& expr, const Subscript& subscript);
  virtual ExprPtr mutate(const ExprPtr& expr, const Call& call);
  virtual ExprPtr mutate(const ExprPtr& expr, const Cast& cast);
  virtual ExprPtr mutate(const ExprPtr& expr, const Member& member);
  virtual ExprPtr mutate(const ExprPtr& expr, const InitializerList& list);
  virtual ExprPtr mutate(const ExprPtr& expr, const OpaqueExpression&) { return expr; }

  virtual StmtPtr mutate(const StmtPtr& stmt, const Declaration& declaration);
  virtual StmtPtr mutate(const StmtPtr& stmt, const Assignment& assignment);
  virtual StmtPtr mutate(const StmtPtr& stmt, const Evaluation& evaluation);
  virtual StmtPtr mutate(const StmtPtr& stmt, const Branch& branch);
  virtual StmtPtr mutate(const StmtPtr& stmt, const ForLoop& loop);
  virtual StmtPtr mutate(const StmtPtr& stmt, const WhileLoop& loop);
  virtual StmtPtr mutate(const StmtPtr& stmt, const Scope& scope);
};

}  // namespace regraph::source
