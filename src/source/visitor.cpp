#include "source/visitor.h"

namespace regraph::source {

void Visitor::go(const ExprPtr& expr) {
  if (!expr) return;
  switch (expr->kind()) {
    case ExprKind::integer_literal:
      return visit(to<IntegerLiteral>(expr));
    case ExprKind::floating_literal:
      return visit(to<FloatingLiteral>(expr));
    case ExprKind::variable_reference:
      return visit(to<VariableReference>(expr));
    case ExprKind::builtin:
      return visit(to<Builtin>(expr));
    case ExprKind::unary:
      return visit(to<Unary>(expr));
    case ExprKind::binary:
      return visit(to<Binary>(expr));
    case ExprKind::conditional:
      return visit(to<Conditional>(expr));
    case ExprKind::subscript:
      return visit(to<Subscript>(expr));
    case ExprKind::call:
      return visit(to<Call>(expr));
    case ExprKind::cast:
      return visit(to<Cast>(expr));
    case ExprKind::member:
      return visit(to<Member>(expr));
    case ExprKind::list:
      return visit(to<InitializerList>(expr));
    case ExprKind::opaque:
      return visit(to<OpaqueExpression>(expr));
  }
}

void Visitor::go(const StmtPtr& stmt) {
  if (!stmt) return;
  switch (stmt->kind()) {
    case StmtKind::declaration:
      return visit(to<Declaration>(stmt));
    case StmtKind::assignment:
      return visit(to<Assignment>(stmt));
    case StmtKind::evaluation:
      return visit(to<Evaluation>(stmt));
    case StmtKind::branch:
      return visit(to<Branch>(stmt));
    case StmtKind::for_loop:
      return visit(to<ForLoop>(stmt));
    case StmtKind::while_loop:
      return visit(to<WhileLoop>(stmt));
    case StmtKind::return_:
      return visit(to<Return>(stmt));
    case StmtKind::jump:
      return visit(to<Jump>(stmt));
    case StmtKind::barrier:
      return visit(to<Barrier>(stmt));
    case StmtKind::scope:
      return visit(to<Scope>(stmt));
    case StmtKind::opaque:
      return visit(to<OpaqueStatement>(stmt));
  }
}

void Visitor::go(const Block& block) {
  for (const StmtPtr& stmt : block)
    go(stmt);
}

void Visitor::visit(const Unary& expr) {
  go(expr.operand);
}

void Visitor::visit(const Binary& expr) {
  go(expr.left);
  go(expr.right);
}

void Visitor::visit(const Conditional& expr) {
  go(expr.condition);
  go(expr.then);
  go(expr.otherwise);
}

void Visitor::visit(const Subscript& expr) {
  go(expr.base);
  go(expr.index);
}

void Visitor::visit(const Call& expr) {
  for (const ExprPtr& argument : expr.arguments)
    go(argument);
}

void Visitor::visit(const InitializerList& expr) {
  for (const ExprPtr& value : expr.values)
    go(value);
}

void Visitor::visit(const Cast& expr) {
  go(expr.operand);
}

void Visitor::visit(const Member& expr) {
  go(expr.object);
}

void Visitor::visit(const Declaration& stmt) {
  go(stmt.value);
}

void Visitor::visit(const Assignment& stmt) {
  go(stmt.target);
  go(stmt.value);
}

void Visitor::visit(const Evaluation& stmt) {
  go(stmt.value);
}

void Visitor::visit(const Branch& stmt) {
  go(stmt.condition);
  go(stmt.body);
  go(stmt.otherwise);
}

void Visitor::visit(const ForLoop& stmt) {
  go(stmt.init);
  go(stmt.condition);
  go(stmt.step);
  go(stmt.body);
}

void Visitor::visit(const WhileLoop& stmt) {
  go(stmt.condition);
  go(stmt.body);
}

void Visitor::visit(const Scope& stmt) {
  go(stmt.body);
}

}  // namespace regraph::source
