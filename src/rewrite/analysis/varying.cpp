#include "rewrite/analysis/varying.h"

#include "source/analysis.h"
#include "source/walk.h"

namespace regraph::rewrite {

using source::Block;
using source::Expr;
using source::ExprKind;
using source::ExprPtr;
using source::Stmt;
using source::StmtKind;
using source::StmtPtr;

bool is_varying(const ExprPtr& expr, const std::string& builtin,
                const std::set<std::string>& varying) {
  bool found = false;
  source::walk(expr, [&](const Expr& node) {
    if (node.kind == ExprKind::builtin && node.text == builtin) found = true;
    if (node.kind == ExprKind::variable && varying.contains(node.text)) found = true;
  });
  return found;
}

namespace {

// One pass over the block; returns whether a name was added.
bool spread(const Block& block, const std::string& builtin, bool under_varying,
            std::set<std::string>& varying) {
  bool changed = false;
  auto mark = [&](const std::string& name) { changed = varying.insert(name).second || changed; };
  for (const StmtPtr& stmt : block) {
    const bool control = under_varying || (stmt->value && stmt->kind != StmtKind::assign &&
                                           stmt->kind != StmtKind::declare &&
                                           is_varying(stmt->value, builtin, varying));
    switch (stmt->kind) {
      case StmtKind::declare:
        if (stmt->value && (under_varying || is_varying(stmt->value, builtin, varying))) {
          mark(stmt->variable.name);
        }
        break;
      case StmtKind::assign: {
        if (!under_varying && !is_varying(stmt->value, builtin, varying) &&
            !is_varying(stmt->target, builtin, varying)) {
          break;
        }
        if (const Expr* base = source::base_variable(*stmt->target)) {
          mark(base->text);
        } else {
          source::walk(stmt->target, [&](const Expr& node) {
            if (node.kind == ExprKind::variable) mark(node.text);
          });
        }
        break;
      }
      case StmtKind::evaluate:
        // An atomic or a call changes what its pointer arguments name, every time it is executed:
        // even with uniform arguments each copy must see its own executions only.
        source::walk(stmt->value, [&](const Expr& node) {
          if (node.kind != ExprKind::unary || node.text != "&") return;
          if (const Expr* base = source::base_variable(*node.operands[0])) mark(base->text);
        });
        break;
      case StmtKind::loop: {
        bool header = control;
        for (const StmtPtr& part : {stmt->init, stmt->step}) {
          if (part && is_varying(part->value, builtin, varying)) header = true;
        }
        if (header && stmt->init) {
          mark(stmt->init->kind == StmtKind::declare ? stmt->init->variable.name
                                                     : stmt->init->target->text);
        }
        changed = spread(stmt->body, builtin, header, varying) || changed;
        break;
      }
      default:
        changed = spread(stmt->body, builtin, control, varying) || changed;
        changed = spread(stmt->otherwise, builtin, control, varying) || changed;
        break;
    }
  }
  return changed;
}

}  // namespace

std::set<std::string> varying_names(const source::Kernel& kernel, const std::string& builtin) {
  std::set<std::string> varying;
  while (spread(kernel.body, builtin, false, varying)) {
  }
  return varying;
}

}  // namespace regraph::rewrite
