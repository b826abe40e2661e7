#include "source/expressions.h"

namespace regraph::source {
namespace {

template <typename Node>
ExprPtr retyped(const Expr& expr, ScalarHint type) {
  auto copy = std::make_shared<Node>(to<Node>(expr));
  copy->type = type;
  return copy;
}

}  // namespace

ExprPtr with_type(const ExprPtr& expr, ScalarHint type) {
  if (expr->type == type) return expr;
  switch (expr->kind()) {
    case ExprKind::integer_literal:
      return retyped<IntegerLiteral>(*expr, type);
    case ExprKind::floating_literal:
      return retyped<FloatingLiteral>(*expr, type);
    case ExprKind::variable_reference:
      return retyped<VariableReference>(*expr, type);
    case ExprKind::builtin:
      return retyped<Builtin>(*expr, type);
    case ExprKind::unary:
      return retyped<Unary>(*expr, type);
    case ExprKind::binary:
      return retyped<Binary>(*expr, type);
    case ExprKind::conditional:
      return retyped<Conditional>(*expr, type);
    case ExprKind::subscript:
      return retyped<Subscript>(*expr, type);
    case ExprKind::call:
      return retyped<Call>(*expr, type);
    case ExprKind::cast:
      return retyped<Cast>(*expr, type);
    case ExprKind::member:
      return retyped<Member>(*expr, type);
    case ExprKind::list:
      return retyped<InitializerList>(*expr, type);
    case ExprKind::opaque:
      return retyped<OpaqueExpression>(*expr, type);
  }
  return expr;
}

}  // namespace regraph::source
