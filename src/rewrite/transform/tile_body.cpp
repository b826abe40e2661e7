#include "rewrite/transform/tile_body.h"

#include "source/build.h"
#include "source/printer.h"
#include "source/walk.h"

#include <algorithm>
#include <functional>

namespace regraph::rewrite {

using source::Block;
using source::Expr;
using source::ExprKind;
using source::ExprPtr;
using source::Polynomial;
using source::Stmt;
using source::StmtKind;
using source::StmtPtr;

const StagedArray* TileBody::staged(const std::string& name) const {
  for (const StagedArray& array : plan_.arrays) {
    if (array.name == name) return &array;
  }
  return nullptr;
}

// The loop's body reading tiles in place of arrays.
Block TileBody::body_on_tiles() const {
  return source::rewrite_expressions(
      plan_.loop->body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
        if (expr->kind != ExprKind::index) return std::nullopt;
        const Expr* base = source::base_variable(*expr);
        const StagedArray* array = base != nullptr ? staged(base->text) : nullptr;
        if (array == nullptr) return std::nullopt;
        std::vector<ExprPtr> coordinates;
        for (const FootprintDimension& dimension : array->footprint.dimensions) {
          const Polynomial coordinate = dimension.coordinate().substitute(
              plan_.counted.name, Polynomial::symbol(plan_.inner));
          coordinates.push_back(source::to_expression(coordinate));
        }
        return source::element(source::variable(array->tile, array->scalar), coordinates);
      });
}

bool TileBody::is_register(const std::string& name) const {
  const source::Variable* variable = analysis_.local(name);
  return variable != nullptr && variable->storage == source::Storage::automatic &&
         !variable->is_pointer;
}

// Whether adding the term with zero-filled tiles adds nothing.
bool TileBody::vanishes(const ExprPtr& term) const {
  if (term->kind == ExprKind::binary && term->text == "*") {
    bool zero = false;
    bool reads_unstaged = false;
    std::function<void(const ExprPtr&)> factors = [&](const ExprPtr& expr) {
      if (expr->kind == ExprKind::binary && expr->text == "*") {
        factors(expr->operands[0]);
        factors(expr->operands[1]);
        return;
      }
      const Expr* base = source::base_variable(*expr);
      for (const StagedArray& array : plan_.arrays) {
        if (base != nullptr && base->text == array.tile) {
          // A staged factor without the contraction index is not zero-filled and could be
          // infinite.
          (array.follows_contraction ? zero : reads_unstaged) = true;
          return;
        }
      }
      if (analysis_.reads_memory(expr)) reads_unstaged = true;
    };
    factors(term);
    return zero && !reads_unstaged;
  }
  return false;
}

bool TileBody::adds_only_vanishing_terms(const Block& body) const {
  for (const StmtPtr& stmt : body) {
    switch (stmt->kind) {
      case StmtKind::declare:
        if (stmt->value && reads_any(stmt->value)) return false;
        break;
      case StmtKind::loop:
      case StmtKind::scope:
      case StmtKind::branch:
        if (!stmt->otherwise.empty() || !adds_only_vanishing_terms(stmt->body)) return false;
        break;
      case StmtKind::assign: {
        const Expr* base = source::base_variable(*stmt->target);
        if (base == nullptr || !is_register(base->text)) return false;
        if (stmt->text == "+=" || stmt->text == "-=") {
          if (!vanishes(stmt->value)) return false;
          break;
        }
        const Expr& value = *stmt->value;
        const bool sum = stmt->text == "=" && value.kind == ExprKind::binary && value.text == "+" &&
                         source::equal(value.operands[0], stmt->target) &&
                         vanishes(value.operands[1]);
        const bool fused = stmt->text == "=" && value.kind == ExprKind::call &&
                           value.operands.size() == 3 &&
                           (value.text == "fmaf" || value.text == "fma") &&
                           source::equal(value.operands[2], stmt->target) &&
                           vanishes(source::binary("*", value.operands[0], value.operands[1]));
        if (!sum && !fused) return false;
        break;
      }
      default:
        return false;
    }
  }
  return true;
}

// Reads a tile or other memory.
bool TileBody::reads_any(const ExprPtr& expr) const {
  bool found = analysis_.reads_memory(expr);
  source::walk(expr, [&](const Expr& node) {
    for (const StagedArray& array : plan_.arrays) {
      found = found || (node.kind == ExprKind::variable && node.text == array.tile);
    }
  });
  return found;
}

bool TileBody::reads_global(const Block& body) const {
  bool found = false;
  source::walk_expressions(body, [&](const Expr& node) {
    if (node.kind == ExprKind::variable && analysis_.is_global_pointer(node.text)) found = true;
  });
  return found;
}

// Every read of `name` outside its own updates is under all of `guards`.
bool TileBody::read_only_under(const Block& block, const std::string& name,
                               const std::set<std::string>& guards,
                               const std::set<std::string>& held) {
  for (const StmtPtr& stmt : block) {
    std::set<std::string> inside = held;
    if (stmt->kind == StmtKind::branch) {
      for (const ExprPtr& term : source::conjuncts(stmt->value))
        inside.insert(source::print(term));
    }
    const Expr* base = stmt->target ? source::base_variable(*stmt->target) : nullptr;
    const bool updates_itself = base != nullptr && base->text == name;
    bool reads = stmt->value && source::variables_of(stmt->value).contains(name) && !updates_itself;
    if (stmt->target) {
      for (const ExprPtr& index : source::indices_of(stmt->target)) {
        reads = reads || source::variables_of(index).contains(name);
      }
    }
    if (reads && !std::includes(held.begin(), held.end(), guards.begin(), guards.end()))
      return false;
    if (!read_only_under(stmt->body, name, guards, inside)) return false;
    if (!read_only_under(stmt->otherwise, name, guards, held)) return false;
  }
  return true;
}

bool TileBody::can_drop_guard(const Stmt& branch) const {
  if (!branch.otherwise.empty() || reads_global(branch.body)) return false;
  std::set<std::string> guards;
  for (const ExprPtr& term : source::conjuncts(branch.value))
    guards.insert(source::print(term));
  bool droppable = true;
  source::walk(branch.body, [&](const Stmt& stmt) {
    if (stmt.kind != StmtKind::assign) {
      droppable = droppable && (stmt.kind == StmtKind::loop || stmt.kind == StmtKind::declare);
      return;
    }
    const Expr* base = source::base_variable(*stmt.target);
    droppable = droppable && base != nullptr && is_register(base->text) &&
                read_only_under(kernel_.body, base->text, guards, {});
  });
  return droppable;
}

Block TileBody::without_guards(const Block& body) const {
  return source::rewrite_statements(body, [&](const StmtPtr& stmt) -> std::optional<Block> {
    if (stmt->kind == StmtKind::branch && can_drop_guard(*stmt)) return stmt->body;
    return std::nullopt;
  });
}

// Index arithmetic that nothing uses any more.
Block TileBody::without_dead_declarations(const Block& body) {
  Block result = body;
  for (bool changed = true; changed;) {
    changed = false;
    std::set<std::string> used;
    source::walk(result, [&](const Stmt& stmt) {
      for (const ExprPtr& expr : {stmt.target, stmt.value}) {
        for (const std::string& name : source::variables_of(expr))
          used.insert(name);
      }
    });
    result = source::rewrite_statements(result, [&](const StmtPtr& stmt) -> std::optional<Block> {
      if (stmt->kind != StmtKind::declare || used.contains(stmt->variable.name))
        return std::nullopt;
      changed = true;
      return Block{};
    });
  }
  return result;
}

}  // namespace regraph::rewrite
