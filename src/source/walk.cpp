#include "source/walk.h"

#include <algorithm>
#include <utility>

namespace regraph::source {
namespace {

template <typename Visit>
void for_each_own_expression(const Stmt& stmt, const Visit& visit) {
  if (stmt.target) visit(stmt.target);
  if (stmt.value) visit(stmt.value);
}

StmtPtr rewrite_own_expressions(const StmtPtr& stmt, const ExprRewrite& rewrite) {
  if (!stmt) return stmt;
  auto copy = std::make_shared<Stmt>(*stmt);
  if (stmt->target) copy->target = rewrite_expr(stmt->target, rewrite);
  if (stmt->value) copy->value = rewrite_expr(stmt->value, rewrite);
  copy->init = rewrite_own_expressions(stmt->init, rewrite);
  copy->step = rewrite_own_expressions(stmt->step, rewrite);
  copy->body = rewrite_expressions(stmt->body, rewrite);
  copy->otherwise = rewrite_expressions(stmt->otherwise, rewrite);
  return copy;
}

}  // namespace

void walk(const ExprPtr& expr, const std::function<void(const Expr&)>& visit) {
  if (!expr) return;
  visit(*expr);
  for (const ExprPtr& operand : expr->operands)
    walk(operand, visit);
}

void walk(const Block& block, const std::function<void(const Stmt&)>& visit) {
  for (const StmtPtr& stmt : block) {
    visit(*stmt);
    if (stmt->init) visit(*stmt->init);
    if (stmt->step) visit(*stmt->step);
    walk(stmt->body, visit);
    walk(stmt->otherwise, visit);
  }
}

void walk_own_expressions(const Stmt& stmt, const std::function<void(const Expr&)>& visit) {
  for_each_own_expression(stmt, [&](const ExprPtr& expr) { walk(expr, visit); });
}

void walk_expressions(const Block& block, const std::function<void(const Expr&)>& visit) {
  walk(block, [&](const Stmt& stmt) { walk_own_expressions(stmt, visit); });
}

ExprPtr rewrite_expr(const ExprPtr& expr, const ExprRewrite& rewrite) {
  if (!expr) return expr;
  if (auto replacement = rewrite(expr)) return *replacement;
  bool changed = false;
  std::vector<ExprPtr> operands;
  operands.reserve(expr->operands.size());
  for (const ExprPtr& operand : expr->operands) {
    operands.push_back(rewrite_expr(operand, rewrite));
    changed = changed || operands.back() != operand;
  }
  if (!changed) return expr;
  auto copy = std::make_shared<Expr>(*expr);
  copy->operands = std::move(operands);
  return copy;
}

Block rewrite_expressions(const Block& block, const ExprRewrite& rewrite) {
  Block result;
  result.reserve(block.size());
  for (const StmtPtr& stmt : block)
    result.push_back(rewrite_own_expressions(stmt, rewrite));
  return result;
}

Block rewrite_statements(const Block& block, const StmtRewrite& rewrite) {
  Block result;
  for (const StmtPtr& stmt : block) {
    if (auto replacement = rewrite(stmt)) {
      result.insert(result.end(), replacement->begin(), replacement->end());
      continue;
    }
    if (stmt->body.empty() && stmt->otherwise.empty()) {
      result.push_back(stmt);
      continue;
    }
    auto copy = std::make_shared<Stmt>(*stmt);
    copy->body = rewrite_statements(stmt->body, rewrite);
    copy->otherwise = rewrite_statements(stmt->otherwise, rewrite);
    result.push_back(std::move(copy));
  }
  return result;
}

ExprRewrite replace_variable(std::string name, ExprPtr replacement) {
  return [name = std::move(name),
          replacement = std::move(replacement)](const ExprPtr& expr) -> std::optional<ExprPtr> {
    if (expr->kind == ExprKind::variable && expr->text == name) return replacement;
    return std::nullopt;
  };
}

bool equal(const ExprPtr& a, const ExprPtr& b) {
  if (a == b) return true;
  if (!a || !b || a->kind != b->kind || a->operands.size() != b->operands.size()) return false;
  if (a->kind == ExprKind::integer ? a->number != b->number : a->text != b->text) return false;
  return std::equal(a->operands.begin(), a->operands.end(), b->operands.begin(),
                    [](const ExprPtr& x, const ExprPtr& y) { return equal(x, y); });
}

bool equal(const StmtPtr& a, const StmtPtr& b) {
  if (a == b) return true;
  if (!a || !b) return false;
  return a->kind == b->kind && a->text == b->text && a->unroll == b->unroll &&
         a->variable.name == b->variable.name && a->variable.type == b->variable.type &&
         a->variable.extents == b->variable.extents && a->variable.storage == b->variable.storage &&
         equal(a->target, b->target) && equal(a->value, b->value) && equal(a->init, b->init) &&
         equal(a->step, b->step) && equal(a->body, b->body) && equal(a->otherwise, b->otherwise);
}

bool equal(const Block& a, const Block& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(),
                    [](const StmtPtr& x, const StmtPtr& y) { return equal(x, y); });
}

std::set<std::string> variables_of(const ExprPtr& expr) {
  std::set<std::string> names;
  walk(expr, [&](const Expr& node) {
    if (node.kind == ExprKind::variable) names.insert(node.text);
  });
  return names;
}

std::set<std::string> declared_names(const Block& block) {
  std::set<std::string> names;
  walk(block, [&](const Stmt& stmt) {
    if (stmt.kind == StmtKind::declare) names.insert(stmt.variable.name);
  });
  return names;
}

std::string fresh_name(const Kernel& kernel, const std::string& stem) {
  std::set<std::string> used = declared_names(kernel.body);
  for (const KernelParameter& parameter : kernel.parameters)
    used.insert(parameter.name);
  walk_expressions(kernel.body, [&](const Expr& expr) {
    if (expr.kind == ExprKind::variable || expr.kind == ExprKind::call) used.insert(expr.text);
  });
  if (!used.contains(stem)) return stem;
  for (int number = 2;; ++number) {
    std::string name = stem + std::to_string(number);
    if (!used.contains(name)) return name;
  }
}

const Expr* base_variable(const Expr& expr) {
  const Expr* node = &expr;
  while (node->kind == ExprKind::index)
    node = node->operands[0].get();
  return node->kind == ExprKind::variable ? node : nullptr;
}

std::vector<ExprPtr> indices_of(const ExprPtr& expr) {
  std::vector<ExprPtr> indices;
  for (const Expr* node = expr.get(); node->kind == ExprKind::index;
       node = node->operands[0].get()) {
    indices.push_back(node->operands[1]);
  }
  std::reverse(indices.begin(), indices.end());
  return indices;
}

}  // namespace regraph::source
