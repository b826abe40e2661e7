#include "rewrite/transform/tile_body.h"

#include "source/build.h"
#include "source/match.h"
#include "source/printer.h"
#include "source/walk.h"

#include <algorithm>
#include <functional>

namespace regraph::rewrite {

using source::as;
using source::AssignmentOperator;
using source::BinaryOperator;
using source::Block;
using source::Branch;
using source::Declaration;
using source::Expr;
using source::ExprPtr;
using source::ForLoop;
using source::is;
using source::Polynomial;
using source::Stmt;
using source::StmtKind;
using source::StmtPtr;
using source::Subscript;
using source::VariableReference;

const StagedArray* TileBody::staged(const std::string& name) const {
  for (const StagedArray& array : plan_.arrays) {
    if (array.name == name) return &array;
  }
  return nullptr;
}

// The loop's body reading tiles in place of arrays.
Block TileBody::body_on_tiles() const {
  return source::rewrite_expressions(
      body_of(*plan_.loop), [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
        if (!is<Subscript>(expr)) return std::nullopt;
        const auto* base = source::base_variable(*expr);
        const StagedArray* array = base != nullptr ? staged(base->name) : nullptr;
        if (array == nullptr) return std::nullopt;
        std::vector<ExprPtr> coordinates;
        for (const FootprintDimension& dimension : array->footprint.dimensions) {
          const Polynomial coordinate = dimension.coordinate().substitute(
              plan_.counted.name, Polynomial::symbol(plan_.inner));
          coordinates.push_back(source::to_expression(coordinate));
        }
        return array->element(std::move(coordinates));
      });
}

bool TileBody::is_register(const std::string& name) const {
  const source::Variable* variable = analysis_.local(name);
  return variable != nullptr && variable->storage == source::Storage::automatic &&
         !variable->is_pointer;
}

// Whether adding the term with zero-filled tiles adds nothing.
bool TileBody::vanishes(const ExprPtr& term) const {
  if (source::as_binary(term, BinaryOperator::multiply) == nullptr) return false;
  bool zero = false;
  bool reads_unstaged = false;
  std::function<void(const ExprPtr&)> factors = [&](const ExprPtr& expr) {
    if (const auto* product = source::as_binary(expr, BinaryOperator::multiply)) {
      factors(product->left);
      factors(product->right);
      return;
    }
    const auto* base = source::base_variable(*expr);
    for (const StagedArray& array : plan_.arrays) {
      if (base == nullptr || base->name != array.tile) continue;
      // A staged factor without the contraction index is not zero-filled and could be infinite.
      (array.follows_contraction ? zero : reads_unstaged) = true;
      return;
    }
    if (analysis_.reads_memory(expr)) reads_unstaged = true;
  };
  factors(term);
  return zero && !reads_unstaged;
}

// target += term, target = target + term, target = fmaf(a, b, target)
bool TileBody::adds_vanishing_term(const source::Assignment& stmt) const {
  const auto* base = source::base_variable(*stmt.target);
  if (base == nullptr || !is_register(base->name)) return false;
  if (stmt.op == AssignmentOperator::add || stmt.op == AssignmentOperator::subtract)
    return vanishes(stmt.value);
  if (stmt.op != AssignmentOperator::assign) return false;
  ExprPtr a;
  ExprPtr b;
  const auto own = source::same(stmt.target);
  if (source::matches(stmt.value, source::sum(own, source::any(a)))) return vanishes(a);
  const auto is_fused = [&](const char* function) {
    return source::matches(stmt.value,
                           source::called(function, source::any(a), source::any(b), own));
  };
  return (is_fused("fmaf") || is_fused("fma")) && vanishes(source::multiply(a, b));
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
        if (!adds_vanishing_term(source::to<source::Assignment>(stmt))) return false;
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
  source::walk(expr, [&](const Expr& node) {
    for (const StagedArray& array : plan_.arrays) {
      found = found || source::is_named(node, array.tile);
    }
  });
  return found;
}

bool TileBody::reads_global(const Block& body) const {
  bool found = false;
  source::walk_expressions(body, [&](const Expr& node) {
    const auto* variable = as<VariableReference>(node);
    found = found || (variable != nullptr && analysis_.is_global_pointer(variable->name));
  });
  return found;
}

// The register that the statement gives a value to; empty for others.
std::string TileBody::register_set_by(const Stmt& stmt) const {
  if (const auto* declaration = as<Declaration>(stmt)) return declaration->variable.name;
  const ExprPtr& target = target_of(stmt);
  const auto* base = target ? source::base_variable(*target) : nullptr;
  return base != nullptr && is_register(base->name) ? base->name : "";
}

// Whether what `name` holds is seen under all of `guards` only. Other registers may be computed
// from it, if that holds for them.
bool TileBody::seen_only_under(const Block& block, const std::string& name,
                               const std::set<std::string>& guards,
                               const std::set<std::string>& held,
                               std::set<std::string>& asked) const {
  for (const StmtPtr& stmt : block) {
    std::set<std::string> inside = held;
    if (const auto* branch = as<Branch>(stmt)) {
      for (const ExprPtr& term : source::conjuncts(branch->condition))
        inside.insert(source::print(term));
    }
    const ExprPtr& target = target_of(*stmt);
    const std::string set = register_set_by(*stmt);
    const bool reads = source::variables_of(value_of(*stmt)).contains(name) && set != name;
    bool places = false;
    if (target) {
      for (const ExprPtr& index : source::indices_of(*target))
        places = places || source::variables_of(index).contains(name);
    }
    const bool is_held = std::includes(held.begin(), held.end(), guards.begin(), guards.end());
    if (places && !is_held) return false;
    if (reads && !is_held) {
      if (set.empty()) return false;
      const bool is_known = !asked.insert(set).second;
      if (!is_known && !seen_only_under(kernel_.body, set, guards, {}, asked)) return false;
    }
    if (!seen_only_under(body_of(*stmt), name, guards, inside, asked)) return false;
    if (!seen_only_under(otherwise_of(*stmt), name, guards, held, asked)) return false;
  }
  return true;
}

bool TileBody::can_drop_guard(const Branch& branch) const {
  if (!branch.otherwise.empty() || reads_global(branch.body)) return false;
  std::set<std::string> guards;
  for (const ExprPtr& term : source::conjuncts(branch.condition))
    guards.insert(source::print(term));
  bool droppable = true;
  source::walk(branch.body, [&](const Stmt& stmt) {
    const ExprPtr& target = target_of(stmt);
    if (!target) {
      droppable = droppable && (is<ForLoop>(stmt) || is<Declaration>(stmt));
      return;
    }
    const auto* base = source::base_variable(*target);
    std::set<std::string> asked;
    droppable = droppable && base != nullptr && is_register(base->name) &&
                seen_only_under(kernel_.body, base->name, guards, {}, asked);
  });
  return droppable;
}

Block TileBody::without_guards(const Block& body) const {
  return source::rewrite_statements(body, [&](const StmtPtr& stmt) -> std::optional<Block> {
    const auto* branch = as<Branch>(stmt);
    const bool drops = branch != nullptr && can_drop_guard(*branch);
    return drops ? std::optional(branch->body) : std::nullopt;
  });
}

// Index arithmetic that nothing uses any more.
Block TileBody::without_dead_declarations(const Block& body) {
  Block result = body;
  for (bool changed = true; changed;) {
    changed = false;
    std::set<std::string> used;
    source::walk(result, [&](const Stmt& stmt) {
      for (const ExprPtr& expr : {target_of(stmt), value_of(stmt)}) {
        for (const std::string& name : source::variables_of(expr))
          used.insert(name);
      }
    });
    result = source::rewrite_statements(result, [&](const StmtPtr& stmt) -> std::optional<Block> {
      const auto* declaration = as<Declaration>(stmt);
      if (declaration == nullptr || used.contains(declaration->variable.name)) return std::nullopt;
      changed = true;
      return Block{};
    });
  }
  return result;
}

}  // namespace regraph::rewrite
