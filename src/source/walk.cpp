#include "source/walk.h"

#include "source/mutator.h"

#include <algorithm>
#include <utility>

namespace regraph::source {
namespace {

// Expressions by function, statements as they are.
class ExpressionRewriter final : public Mutator {
 public:
  explicit ExpressionRewriter(const ExprRewrite& rewrite) : rewrite_(rewrite) {}

  // Every node is asked before it is taken apart.
  template <typename Node>
  ExprPtr asked(const ExprPtr& expr, const Node& node) {
    if (auto replacement = rewrite_(expr)) return *replacement;
    return Mutator::mutate(expr, node);
  }

 private:
  ExprPtr mutate(const ExprPtr& e, const IntegerLiteral& n) override { return asked(e, n); }
  ExprPtr mutate(const ExprPtr& e, const FloatingLiteral& n) override { return asked(e, n); }
  ExprPtr mutate(const ExprPtr& e, const VariableReference& n) override { return asked(e, n); }
  ExprPtr mutate(const ExprPtr& e, const Builtin& n) override { return asked(e, n); }
  ExprPtr mutate(const ExprPtr& e, const Unary& n) override { return asked(e, n); }
  ExprPtr mutate(const ExprPtr& e, const Binary& n) override { return asked(e, n); }
  ExprPtr mutate(const ExprPtr& e, const Conditional& n) override { return asked(e, n); }
  ExprPtr mutate(const ExprPtr& e, const Subscript& n) override { return asked(e, n); }
  ExprPtr mutate(const ExprPtr& e, const Call& n) override { return asked(e, n); }
  ExprPtr mutate(const ExprPtr& e, const Cast& n) override { return asked(e, n); }
  ExprPtr mutate(const ExprPtr& e, const Member& n) override { return asked(e, n); }
  ExprPtr mutate(const ExprPtr& e, const InitializerList& n) override { return asked(e, n); }
  ExprPtr mutate(const ExprPtr& e, const OpaqueExpression& n) override { return asked(e, n); }

  const ExprRewrite& rewrite_;
};

}  // namespace

void walk(const ExprPtr& expr, const std::function<void(const Expr&)>& visit) {
  if (!expr) return;
  visit(*expr);
  for_each_operand(*expr, [&](const ExprPtr& operand) { walk(operand, visit); });
}

void walk(const Block& block, const std::function<void(const Stmt&)>& visit) {
  for (const StmtPtr& stmt : block) {
    visit(*stmt);
    for_each_header(*stmt, [&](const StmtPtr& part) { visit(*part); });
    walk(body_of(*stmt), visit);
    walk(otherwise_of(*stmt), visit);
  }
}

void walk_own_expressions(const Stmt& stmt, const std::function<void(const Expr&)>& visit) {
  walk(target_of(stmt), visit);
  walk(value_of(stmt), visit);
}

void walk_expressions(const Block& block, const std::function<void(const Expr&)>& visit) {
  walk(block, [&](const Stmt& stmt) { walk_own_expressions(stmt, visit); });
}

bool any_expression(const ExprPtr& expr, const std::function<bool(const Expr&)>& test) {
  bool found = false;
  walk(expr, [&](const Expr& node) { found = found || test(node); });
  return found;
}

bool any_expression(const Block& block, const std::function<bool(const Expr&)>& test) {
  bool found = false;
  walk_expressions(block, [&](const Expr& node) { found = found || test(node); });
  return found;
}

bool any_own_expression(const Stmt& stmt, const std::function<bool(const Expr&)>& test) {
  bool found = false;
  walk_own_expressions(stmt, [&](const Expr& node) { found = found || test(node); });
  return found;
}

bool any_statement(const Block& block, const std::function<bool(const Stmt&)>& test) {
  bool found = false;
  walk(block, [&](const Stmt& stmt) { found = found || test(stmt); });
  return found;
}

bool all_expressions(const ExprPtr& expr, const std::function<bool(const Expr&)>& test) {
  return !any_expression(expr, [&](const Expr& node) { return !test(node); });
}

bool all_expressions(const Block& block, const std::function<bool(const Expr&)>& test) {
  return !any_expression(block, [&](const Expr& node) { return !test(node); });
}

bool all_statements(const Block& block, const std::function<bool(const Stmt&)>& test) {
  return !any_statement(block, [&](const Stmt& stmt) { return !test(stmt); });
}

ExprPtr rewrite_expr(const ExprPtr& expr, const ExprRewrite& rewrite) {
  return ExpressionRewriter(rewrite).run(expr);
}

Block rewrite_expressions(const Block& block, const ExprRewrite& rewrite) {
  return ExpressionRewriter(rewrite).run(block);
}

Block rewrite_statements(const Block& block, const StmtRewrite& rewrite) {
  Block result;
  for (const StmtPtr& stmt : block) {
    if (auto replacement = rewrite(stmt)) {
      result.insert(result.end(), replacement->begin(), replacement->end());
    } else {
      result.push_back(with_blocks(stmt, rewrite_statements(body_of(*stmt), rewrite),
                                   rewrite_statements(otherwise_of(*stmt), rewrite)));
    }
  }
  return result;
}

ExprRewrite replace_variable(std::string name, ExprPtr replacement) {
  return [name = std::move(name),
          replacement = std::move(replacement)](const ExprPtr& expr) -> std::optional<ExprPtr> {
    const auto* variable = as<VariableReference>(expr);
    return variable != nullptr && variable->name == name ? std::optional(replacement)
                                                         : std::nullopt;
  };
}

namespace {

// What two nodes of one kind hold besides operands and blocks.
bool equal_content(const Expr& a, const Expr& b) {
  switch (a.kind()) {
    case ExprKind::integer_literal:
      return to<IntegerLiteral>(a).value == to<IntegerLiteral>(b).value;
    case ExprKind::floating_literal:
      return to<FloatingLiteral>(a).spelling == to<FloatingLiteral>(b).spelling;
    case ExprKind::variable_reference:
      return to<VariableReference>(a).name == to<VariableReference>(b).name;
    case ExprKind::builtin:
      return to<Builtin>(a).name == to<Builtin>(b).name;
    case ExprKind::unary:
      return to<Unary>(a).op == to<Unary>(b).op;
    case ExprKind::binary:
      return to<Binary>(a).op == to<Binary>(b).op;
    case ExprKind::conditional:
    case ExprKind::subscript:
      return true;
    case ExprKind::call:
      return to<Call>(a).function == to<Call>(b).function;
    case ExprKind::cast:
      return to<Cast>(a).target == to<Cast>(b).target;
    case ExprKind::member:
      return to<Member>(a).name == to<Member>(b).name;
    case ExprKind::list:
      return to<InitializerList>(a).target == to<InitializerList>(b).target;
    case ExprKind::opaque:
      return to<OpaqueExpression>(a).text == to<OpaqueExpression>(b).text;
  }
  return false;
}

bool equal(const Variable& a, const Variable& b) {
  return a.name == b.name && a.type == b.type && a.extents == b.extents && a.storage == b.storage &&
         a.alignment == b.alignment;
}

bool equal_content(const Stmt& a, const Stmt& b) {
  switch (a.kind()) {
    case StmtKind::declaration:
      return equal(to<Declaration>(a).variable, to<Declaration>(b).variable);
    case StmtKind::assignment:
      return to<Assignment>(a).op == to<Assignment>(b).op;
    case StmtKind::for_loop:
      return to<ForLoop>(a).unroll == to<ForLoop>(b).unroll &&
             equal(to<ForLoop>(a).init, to<ForLoop>(b).init) &&
             equal(to<ForLoop>(a).step, to<ForLoop>(b).step);
    case StmtKind::while_loop:
      return to<WhileLoop>(a).asks_last == to<WhileLoop>(b).asks_last;
    case StmtKind::jump:
      return to<Jump>(a).jump == to<Jump>(b).jump;
    case StmtKind::opaque:
      return to<OpaqueStatement>(a).text == to<OpaqueStatement>(b).text;
    default:
      return true;
  }
}

std::vector<const ExprPtr*> operands_of(const Expr& expr) {
  std::vector<const ExprPtr*> operands;
  for_each_operand(expr, [&](const ExprPtr& operand) { operands.push_back(&operand); });
  return operands;
}

}  // namespace

bool equal(const ExprPtr& a, const ExprPtr& b) {
  if (a == b) return true;
  if (!a || !b || a->kind() != b->kind() || !equal_content(*a, *b)) return false;
  const auto left = operands_of(*a);
  const auto right = operands_of(*b);
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const ExprPtr* x, const ExprPtr* y) { return equal(*x, *y); });
}

bool equal(const StmtPtr& a, const StmtPtr& b) {
  if (a == b) return true;
  return a && b && a->kind() == b->kind() && equal_content(*a, *b) &&
         equal(target_of(*a), target_of(*b)) && equal(value_of(*a), value_of(*b)) &&
         equal(body_of(*a), body_of(*b)) && equal(otherwise_of(*a), otherwise_of(*b));
}

bool equal(const Block& a, const Block& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const StmtPtr& x, const StmtPtr& y) { return equal(x, y); });
}

std::set<std::string> variables_of(const ExprPtr& expr) {
  std::set<std::string> names;
  walk(expr, [&](const Expr& node) {
    if (const auto* variable = as<VariableReference>(node)) names.insert(variable->name);
  });
  return names;
}

std::set<std::string> variables_of(const Block& block) {
  std::set<std::string> names;
  walk_expressions(block, [&](const Expr& node) {
    if (const auto* variable = as<VariableReference>(node)) names.insert(variable->name);
  });
  return names;
}

std::set<std::string> declared_names(const Block& block) {
  std::set<std::string> names;
  walk(block, [&](const Stmt& stmt) {
    if (const auto* declaration = as<Declaration>(stmt)) names.insert(declaration->variable.name);
  });
  return names;
}

std::set<std::string> used_names(const Kernel& kernel) {
  std::set<std::string> used = declared_names(kernel.body);
  for (const KernelParameter& parameter : kernel.parameters)
    used.insert(parameter.name);
  walk_expressions(kernel.body, [&](const Expr& expr) {
    if (const auto* variable = as<VariableReference>(expr)) used.insert(variable->name);
    if (const auto* call = as<Call>(expr)) used.insert(call->function);
  });
  return used;
}

std::string fresh_name(const Kernel& kernel, const std::string& stem) {
  const std::set<std::string> used = used_names(kernel);
  if (!used.contains(stem)) return stem;
  for (int number = 2;; ++number) {
    std::string name = stem + std::to_string(number);
    if (!used.contains(name)) return name;
  }
}

const VariableReference* base_variable(const Expr& expr) {
  const Expr* node = &expr;
  while (const auto* subscript = as<Subscript>(node))
    node = subscript->base.get();
  return as<VariableReference>(node);
}

const VariableReference* place_variable(const Expr& place) {
  const Expr* node = &place;
  for (;;) {
    if (const auto* subscript = as<Subscript>(*node)) {
      node = subscript->base.get();
    } else if (const auto* member = as<Member>(*node)) {
      node = member->object.get();
    } else if (const auto* cast = as<Cast>(*node)) {
      node = cast->operand.get();
    } else if (const auto* unary = as<Unary>(*node);
               unary != nullptr && unary->op == UnaryOperator::address_of) {
      node = unary->operand.get();
    } else {
      return as<VariableReference>(*node);
    }
  }
}

std::vector<ExprPtr> indices_of(const Expr& expr) {
  std::vector<ExprPtr> indices;
  for (const auto* subscript = as<Subscript>(expr); subscript != nullptr;
       subscript = as<Subscript>(subscript->base)) {
    indices.push_back(subscript->index);
  }
  std::reverse(indices.begin(), indices.end());
  return indices;
}

}  // namespace regraph::source
