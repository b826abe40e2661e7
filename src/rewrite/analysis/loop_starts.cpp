#include "rewrite/analysis/loop_starts.h"

#include "source/counted_loop.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace regraph::rewrite {

using source::as;
using source::Assignment;
using source::Block;
using source::Declaration;
using source::ExprPtr;
using source::ForLoop;
using source::is;
using source::is_named;
using source::Stmt;
using source::StmtPtr;

namespace {

bool is_all_zero(const ExprPtr& expr) {
  if (source::is_number(expr, 0)) return true;
  const auto* literal = as<source::FloatingLiteral>(expr);
  if (literal != nullptr) return literal->spelling.find_first_not_of("0.fF") == std::string::npos;
  const auto* list = as<source::InitializerList>(expr);
  return list != nullptr && std::all_of(list->values.begin(), list->values.end(), is_all_zero);
}

bool is_set_by(const StmtPtr& stmt, const std::string& name) {
  bool found = false;
  source::walk(Block{stmt}, [&](const Stmt& inner) {
    const ExprPtr& target = target_of(inner);
    const auto* base = target ? source::base_variable(*target) : nullptr;
    found = found || (base != nullptr && base->name == name);
  });
  return found;
}

// x = 0, or loops that do so with all elements of an array.
bool clears(const StmtPtr& stmt, const source::Variable& variable, std::size_t axis) {
  if (axis == variable.extents.size()) {
    const auto* assignment = as<Assignment>(stmt);
    return assignment != nullptr && assignment->op == source::AssignmentOperator::assign &&
           is_all_zero(assignment->value) && source::indices_of(*assignment->target).size() == axis;
  }
  const auto counted = source::counted_loop_of(*stmt);
  if (!counted || !counted->starts_at_zero() || counted->stride != 1 ||
      counted->trip_count() != variable.extents[axis] || body_of(*stmt).size() != 1) {
    return false;
  }
  // The counter of this loop is that axis's index.
  bool is_index = true;
  source::walk(body_of(*stmt), [&](const Stmt& inner) {
    if (const ExprPtr& target = target_of(inner); target && !is<ForLoop>(inner)) {
      const auto* base = source::base_variable(*target);
      if (base == nullptr || base->name != variable.name) return;
      const auto indices = source::indices_of(*target);
      is_index = is_index && axis < indices.size() && is_named(indices[axis], counted->name);
    }
  });
  return is_index && clears(body_of(*stmt).front(), variable, axis + 1);
}

}  // namespace

bool is_finite_number(const ExprPtr& expr) {
  if (const auto* minus = source::as_unary(expr, source::UnaryOperator::minus))
    return is_finite_number(minus->operand);
  if (is<source::IntegerLiteral>(expr)) return true;
  const auto* literal = as<source::FloatingLiteral>(expr);
  return literal != nullptr && std::isfinite(std::strtof(literal->spelling.c_str(), nullptr)) &&
         literal->spelling.find_first_of("0123456789") == 0;
}

ExprPtr start_of(const Block& block, std::size_t before, const std::string& name) {
  for (std::size_t at = before; at-- > 0;) {
    const auto* declaration = as<Declaration>(block[at]);
    if (declaration != nullptr && declaration->variable.name == name) return declaration->value;
    const auto* assignment = as<Assignment>(block[at]);
    if (assignment != nullptr && is_named(assignment->target, name))
      return assignment->op == source::AssignmentOperator::assign ? assignment->value : nullptr;
    if (is_set_by(block[at], name)) return nullptr;
  }
  return nullptr;
}

bool starts_from_zero(const Block& block, std::size_t before, const source::Variable& variable) {
  for (std::size_t at = before; at-- > 0;) {
    const auto* declaration = as<Declaration>(block[at]);
    if (declaration != nullptr && declaration->variable.name == variable.name)
      return declaration->value && is_all_zero(declaration->value);
    if (is_set_by(block[at], variable.name)) return clears(block[at], variable, 0);
  }
  return false;
}

}  // namespace regraph::rewrite
