#include "rewrite/transform/tile_body.h"

#include "rewrite/analysis/guarded_liveness.h"
#include "rewrite/forms/unused_names.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <functional>

namespace regraph::rewrite {

const Stage* TileBody::staged(const std::string& name) const {
  for (const Stage& array : plan_.arrays) {
    if (array.name == name) return &array;
  }
  return nullptr;
}

Block TileBody::body() const {
  // Index arithmetic may be left that nothing uses any more.
  return without_unused(without_guards(body_on_tiles()), [](const Declaration&) { return true; });
}

// The loop's body reading tiles in place of arrays.
Block TileBody::body_on_tiles() const {
  return rewrite_expressions(body_of(*plan_.loop),
                             [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
                               if (!is<Subscript>(expr)) return std::nullopt;
                               const auto* base = base_variable(*expr);
                               const Stage* array = base != nullptr ? staged(base->name) : nullptr;
                               if (array == nullptr) return std::nullopt;
                               std::vector<ExprPtr> coordinates;
                               for (const AccessDimension& dimension : array->box.dimensions) {
                                 const Polynomial coordinate = dimension.coordinate().substitute(
                                     plan_.counted.name, Polynomial::symbol(plan_.inner));
                                 coordinates.push_back(to_expression(coordinate));
                               }
                               return array->element(coordinates);
                             });
}

// Whether adding the term with zero-filled tiles adds nothing.
bool TileBody::vanishes(const ExprPtr& term) const {
  if (as_binary(term, BinaryOperator::multiply) == nullptr) return false;
  bool zero = false;
  bool reads_unstaged = false;
  std::function<void(const ExprPtr&)> factors = [&](const ExprPtr& expr) {
    if (const auto* product = as_binary(expr, BinaryOperator::multiply)) {
      factors(product->left);
      factors(product->right);
      return;
    }
    const auto* base = base_variable(*expr);
    for (const Stage& array : plan_.arrays) {
      if (base == nullptr || base->name != array.tile) continue;
      // A staged factor without the contraction index is not zero-filled and could be infinite.
      (array.strip ? zero : reads_unstaged) = true;
      return;
    }
    if (analysis_.reads_memory(expr)) reads_unstaged = true;
  };
  factors(term);
  return zero && !reads_unstaged;
}

bool TileBody::adds_vanishing_term(const Assignment& stmt) const {
  const auto* base = base_variable(*stmt.target);
  if (base == nullptr || !is_register(base->name, analysis_)) return false;
  const auto added = added_term(stmt);
  return added && vanishes(added->term);
}

bool TileBody::adds_only_vanishing_terms(const Block& body) const {
  for (const StmtPtr& stmt : body) {
    switch (stmt->kind()) {
      case StmtKind::declaration:
        if (value_of(*stmt) && reads_any(value_of(*stmt))) return false;
        break;
      case StmtKind::for_loop:
      case StmtKind::scope:
      case StmtKind::branch:
        if (!otherwise_of(*stmt).empty() || !adds_only_vanishing_terms(body_of(*stmt)))
          return false;
        break;
      case StmtKind::assignment:
        if (!adds_vanishing_term(to<Assignment>(stmt))) return false;
        break;
      default:
        return false;
    }
  }
  return true;
}

// Reads a tile or other memory.
bool TileBody::reads_any(const ExprPtr& expr) const {
  bool found = analysis_.reads_memory(expr);
  walk(expr, [&](const Expr& node) {
    for (const Stage& array : plan_.arrays) {
      found = found || is_named(node, array.tile);
    }
  });
  return found;
}

bool TileBody::reads_global(const Block& body) const {
  return any_expression(body, [&](const Expr& node) {
    const auto* variable = as<VariableReference>(node);
    return variable != nullptr && analysis_.is_global_pointer(variable->name);
  });
}

bool TileBody::can_drop_guard(const Branch& branch) const {
  if (!branch.otherwise.empty() || reads_global(branch.body)) return false;
  const std::vector<ExprPtr> guards = conjuncts(branch.condition);
  // Nobody else sees these, whatever other scopes call by the same names.
  const std::set<std::string> own = declared_names(branch.body);
  bool droppable = true;
  walk(branch.body, [&](const Stmt& stmt) {
    const ExprPtr& target = target_of(stmt);
    if (!target) {
      droppable = droppable && (is<ForLoop>(stmt) || is<Declaration>(stmt) || is<Branch>(stmt));
      return;
    }
    const auto* base = base_variable(*target);
    for (const ExprPtr& read : {target, value_of(stmt)})
      droppable = droppable && reads_set_registers(kernel_, analysis_, read, own);
    if (base != nullptr && own.contains(base->name)) return;
    droppable = droppable && is_live_only_under(kernel_, analysis_, target, guards);
  });
  return droppable;
}

Block TileBody::without_guards(const Block& body) const {
  return rewrite_statements(body, [&](const StmtPtr& stmt) -> std::optional<Block> {
    const auto* branch = as<Branch>(stmt);
    const bool drops = branch != nullptr && can_drop_guard(*branch);
    return drops ? std::optional(branch->body) : std::nullopt;
  });
}

}  // namespace regraph::rewrite
