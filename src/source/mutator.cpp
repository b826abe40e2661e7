#include "source/mutator.h"

namespace regraph::source {
namespace {

// A copy of the node to be changed.
template <typename Node>
std::shared_ptr<Node> copy_of(const Node& node) {
  return std::make_shared<Node>(node);
}

}  // namespace

ExprPtr Mutator::run(const ExprPtr& expr) {
  if (!expr) return expr;
  switch (expr->kind()) {
    case ExprKind::integer_literal:
      return mutate(expr, to<IntegerLiteral>(expr));
    case ExprKind::floating_literal:
      return mutate(expr, to<FloatingLiteral>(expr));
    case ExprKind::variable_reference:
      return mutate(expr, to<VariableReference>(expr));
    case ExprKind::builtin:
      return mutate(expr, to<Builtin>(expr));
    case ExprKind::unary:
      return mutate(expr, to<Unary>(expr));
    case ExprKind::binary:
      return mutate(expr, to<Binary>(expr));
    case ExprKind::conditional:
      return mutate(expr, to<Conditional>(expr));
    case ExprKind::subscript:
      return mutate(expr, to<Subscript>(expr));
    case ExprKind::call:
      return mutate(expr, to<Call>(expr));
    case ExprKind::cast:
      return mutate(expr, to<Cast>(expr));
    case ExprKind::member:
      return mutate(expr, to<Member>(expr));
    case ExprKind::list:
      return mutate(expr, to<InitializerList>(expr));
    case ExprKind::opaque:
      return mutate(expr, to<OpaqueExpression>(expr));
  }
  return expr;
}

StmtPtr Mutator::run(const StmtPtr& stmt) {
  if (!stmt) return stmt;
  switch (stmt->kind()) {
    case StmtKind::declaration:
      return mutate(stmt, to<Declaration>(stmt));
    case StmtKind::assignment:
      return mutate(stmt, to<Assignment>(stmt));
    case StmtKind::evaluation:
      return mutate(stmt, to<Evaluation>(stmt));
    case StmtKind::branch:
      return mutate(stmt, to<Branch>(stmt));
    case StmtKind::for_loop:
      return mutate(stmt, to<ForLoop>(stmt));
    case StmtKind::while_loop:
      return mutate(stmt, to<WhileLoop>(stmt));
    case StmtKind::scope:
      return mutate(stmt, to<Scope>(stmt));
    case StmtKind::return_:
    case StmtKind::jump:
    case StmtKind::barrier:
    case StmtKind::opaque:
      break;
  }
  return stmt;
}

Block Mutator::run(const Block& block) {
  Block result;
  result.reserve(block.size());
  for (const StmtPtr& stmt : block)
    append(stmt, result);
  return result;
}

ExprPtr Mutator::mutate(const ExprPtr& expr, const Unary& unary) {
  ExprPtr operand = run(unary.operand);
  if (operand == unary.operand) return expr;
  return std::make_shared<Unary>(unary.op, std::move(operand), unary.type);
}

ExprPtr Mutator::mutate(const ExprPtr& expr, const Binary& binary) {
  ExprPtr left = run(binary.left);
  ExprPtr right = run(binary.right);
  if (left == binary.left && right == binary.right) return expr;
  return std::make_shared<Binary>(binary.op, std::move(left), std::move(right), binary.type);
}

ExprPtr Mutator::mutate(const ExprPtr& expr, const Conditional& conditional) {
  ExprPtr condition = run(conditional.condition);
  ExprPtr then = run(conditional.then);
  ExprPtr otherwise = run(conditional.otherwise);
  if (condition == conditional.condition && then == conditional.then &&
      otherwise == conditional.otherwise) {
    return expr;
  }
  return std::make_shared<Conditional>(std::move(condition), std::move(then), std::move(otherwise),
                                       conditional.type);
}

ExprPtr Mutator::mutate(const ExprPtr& expr, const Subscript& subscript) {
  ExprPtr base = run(subscript.base);
  ExprPtr index = run(subscript.index);
  if (base == subscript.base && index == subscript.index) return expr;
  return std::make_shared<Subscript>(std::move(base), std::move(index), subscript.type);
}

ExprPtr Mutator::mutate(const ExprPtr& expr, const Call& call) {
  std::vector<ExprPtr> arguments;
  arguments.reserve(call.arguments.size());
  for (const ExprPtr& argument : call.arguments)
    arguments.push_back(run(argument));
  if (arguments == call.arguments) return expr;
  auto copy = std::make_shared<Call>(call);
  copy->arguments = std::move(arguments);
  return copy;
}

ExprPtr Mutator::mutate(const ExprPtr& expr, const InitializerList& list) {
  std::vector<ExprPtr> values;
  values.reserve(list.values.size());
  for (const ExprPtr& value : list.values)
    values.push_back(run(value));
  if (values == list.values) return expr;
  return std::make_shared<InitializerList>(list.target, std::move(values));
}

ExprPtr Mutator::mutate(const ExprPtr& expr, const Cast& cast) {
  ExprPtr operand = run(cast.operand);
  if (operand == cast.operand) return expr;
  return std::make_shared<Cast>(cast.target, std::move(operand), cast.type);
}

ExprPtr Mutator::mutate(const ExprPtr& expr, const Member& member) {
  ExprPtr object = run(member.object);
  if (object == member.object) return expr;
  return std::make_shared<Member>(std::move(object), member.name, member.type);
}

StmtPtr Mutator::mutate(const StmtPtr& stmt, const Declaration& declaration) {
  ExprPtr value = run(declaration.value);
  if (value == declaration.value) return stmt;
  auto copy = copy_of(declaration);
  copy->value = std::move(value);
  return copy;
}

StmtPtr Mutator::mutate(const StmtPtr& stmt, const Assignment& assignment) {
  ExprPtr target = run(assignment.target);
  ExprPtr value = run(assignment.value);
  if (target == assignment.target && value == assignment.value) return stmt;
  auto copy = copy_of(assignment);
  copy->target = std::move(target);
  copy->value = std::move(value);
  return copy;
}

StmtPtr Mutator::mutate(const StmtPtr& stmt, const Evaluation& evaluation) {
  ExprPtr value = run(evaluation.value);
  if (value == evaluation.value) return stmt;
  auto copy = copy_of(evaluation);
  copy->value = std::move(value);
  return copy;
}

StmtPtr Mutator::mutate(const StmtPtr& stmt, const Branch& branch) {
  ExprPtr condition = run(branch.condition);
  Block body = run(branch.body);
  Block otherwise = run(branch.otherwise);
  if (condition == branch.condition && body == branch.body && otherwise == branch.otherwise)
    return stmt;
  auto copy = copy_of(branch);
  copy->condition = std::move(condition);
  copy->body = std::move(body);
  copy->otherwise = std::move(otherwise);
  return copy;
}

StmtPtr Mutator::mutate(const StmtPtr& stmt, const ForLoop& loop) {
  StmtPtr init = run(loop.init);
  ExprPtr condition = run(loop.condition);
  StmtPtr step = run(loop.step);
  Block body = run(loop.body);
  if (init == loop.init && condition == loop.condition && step == loop.step && body == loop.body)
    return stmt;
  auto copy = copy_of(loop);
  copy->init = std::move(init);
  copy->condition = std::move(condition);
  copy->step = std::move(step);
  copy->body = std::move(body);
  return copy;
}

StmtPtr Mutator::mutate(const StmtPtr& stmt, const WhileLoop& loop) {
  ExprPtr condition = run(loop.condition);
  Block body = run(loop.body);
  if (condition == loop.condition && body == loop.body) return stmt;
  auto copy = copy_of(loop);
  copy->condition = std::move(condition);
  copy->body = std::move(body);
  return copy;
}

StmtPtr Mutator::mutate(const StmtPtr& stmt, const Scope& scope) {
  Block body = run(scope.body);
  if (body == scope.body) return stmt;
  auto copy = copy_of(scope);
  copy->body = std::move(body);
  return copy;
}

}  // namespace regraph::source
