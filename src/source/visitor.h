// Going through the IR: override `visit` for the kinds that matter.
//
//   class CountLoads : public Visitor {
//     void visit(const Subscript& expr) override { ++loads; Visitor::visit(expr); }
//   };
#pragma once

#include "source/ir.h"

namespace regraph::source {

// Each `visit` goes on to the node's children, in the order in which they are written; an override
// that does not call its base stays above them. Null pointers are passed over. Loop headers'
// declaration and assignment are visited as statements.
class Visitor {
 public:
  virtual ~Visitor() = default;

  void go(const ExprPtr& expr);
  void go(const StmtPtr& stmt);
  void go(const Block& block);

 protected:
  virtual void visit(const IntegerLiteral&) {}
  virtual void visit(const FloatingLiteral&) {}
  virtual void visit(const VariableReference&) {}
  virtual void visit(const Builtin&) {}
  virtual void visit(const Unary& expr);
  virtual void visit(const Binary& expr);
  virtual void visit(const Conditional& expr);
  virtual void visit(const Subscript& expr);
  virtual void visit(const Call& expr);
  virtual void visit(const Cast& expr);
  virtual void visit(const Member& expr);
  virtual void visit(const InitializerList& expr);
  virtual void visit(const OpaqueExpression&) {}

  virtual void visit(const Declaration& stmt);
  virtual void visit(const Assignment& stmt);
  virtual void visit(const Evaluation& stmt);
  virtual void visit(const Branch& stmt);
  virtual void visit(const ForLoop& stmt);
  virtual void visit(const WhileLoop& stmt);
  virtual void visit(const Return&) {}
  virtual void visit(const Jump&) {}
  virtual void visit(const Barrier&) {}
  virtual void visit(const Scope& stmt);
  virtual void visit(const OpaqueStatement&) {}
};

}  // namespace regraph::source
