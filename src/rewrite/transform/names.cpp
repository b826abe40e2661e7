#include "rewrite/transform/names.h"

#include "source/build.h"
#include "source/walk.h"

#include <map>

namespace regraph::rewrite {

using source::Block;
using source::Expr;
using source::ExprKind;
using source::ExprPtr;
using source::Stmt;
using source::StmtPtr;

Names::Names(const source::Kernel& kernel) : used_(source::declared_names(kernel.body)) {
  for (const source::KernelParameter& parameter : kernel.parameters)
    used_.insert(parameter.name);
  source::walk_expressions(kernel.body, [&](const Expr& expr) {
    if (expr.kind == ExprKind::variable || expr.kind == ExprKind::call) used_.insert(expr.text);
  });
}

std::string Names::fresh(const std::string& stem) {
  if (used_.insert(stem).second) return stem;
  for (int number = 2;; ++number) {
    std::string name = stem + std::to_string(number);
    if (used_.insert(name).second) return name;
  }
}

namespace {

using Renaming = std::map<std::string, std::string>;

StmtPtr with_declarations(const StmtPtr& stmt, const Renaming& renaming);

Block with_declarations(const Block& block, const Renaming& renaming) {
  Block result;
  for (const StmtPtr& stmt : block)
    result.push_back(with_declarations(stmt, renaming));
  return result;
}

StmtPtr with_declarations(const StmtPtr& stmt, const Renaming& renaming) {
  if (!stmt) return stmt;
  auto copy = std::make_shared<Stmt>(*stmt);
  const auto found = renaming.find(stmt->variable.name);
  if (stmt->kind == source::StmtKind::declare && found != renaming.end()) {
    copy->variable.name = found->second;
  }
  copy->init = with_declarations(stmt->init, renaming);
  copy->step = with_declarations(stmt->step, renaming);
  copy->body = with_declarations(stmt->body, renaming);
  copy->otherwise = with_declarations(stmt->otherwise, renaming);
  return copy;
}

}  // namespace

Block Names::renamed(const Block& block) {
  Renaming renaming;
  for (const std::string& name : source::declared_names(block))
    renaming.emplace(name, fresh(name));
  if (renaming.empty()) return block;
  const Block uses =
      source::rewrite_expressions(block, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
        if (expr->kind != ExprKind::variable) return std::nullopt;
        const auto found = renaming.find(expr->text);
        if (found == renaming.end()) return std::nullopt;
        return source::variable(found->second, expr->type);
      });
  return with_declarations(uses, renaming);
}

}  // namespace regraph::rewrite
