#include "rewrite/analysis/row_places.h"

#include "affine/block_geometry.h"
#include "affine/constraints.h"
#include "rewrite/analysis/grid_guard.h"
#include "rewrite/analysis/product_coordinates.h"
#include "rewrite/forms/kernel_state.h"
#include "source/build.h"
#include "source/walk.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace regraph::rewrite {

Status RowPlacer::place_threads() {
  const auto form = kernel_.single_exit();
  if (!form) return form.error();
  places_.axis.axis = -1;
  for (int axis = 0; axis < 3; ++axis) {
    if (extent(launch_.block, axis) == 1) continue;
    if (places_.axis.axis >= 0) return refuse("the blocks have more than one axis of threads");
    places_.axis.axis = axis;
  }
  if (places_.axis.axis < 0) return refuse("the blocks have one thread");
  const int axis = places_.axis.axis;
  places_.axis.coordinate =
      fresh_name((*form)->kernel, std::string("at_") + kAxes[static_cast<std::size_t>(axis)]);
  auto limit = thread_limit((*form)->kernel, (*form)->analysis, launch_, axis);
  if (!limit) return limit.error();
  places_.axis.limit = std::move(*limit);
  Kernel kernel = (*form)->kernel;
  const std::array axes = {places_.axis};
  kernel.body =
      rewrite_expressions(kernel.body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
        return in_coordinates(expr, **form, launch_, axes);
      });
  places_.form = std::make_shared<const KernelForm>(std::move(kernel));
  names_.emplace(places_.form->kernel);
  names_->take(places_.axis.coordinate);
  return {};
}

Status RowPlacer::take_row_guard(const ExprPtr& guard) {
  const ExprPtr known = inlined(guard);
  if (is_of_block(known)) {
    places_.conditions.push_back(known);
    return {};
  }
  const auto slack = slack_of(known, [&](const ExprPtr& side) { return placed(side); });
  const auto slope = slack ? slack->coefficient(places_.axis.coordinate) : std::nullopt;
  if (!slope || slope->constant() != -1) return refuse("a guard of the rows is no limit of them");
  places_.row_limits.push_back(*slack + Polynomial::symbol(places_.axis.coordinate) +
                               Polynomial(1));
  return {};
}

Status RowPlacer::take_limit_of_grid() {
  if (places_.axis.limit) {
    const auto limit = placed(places_.axis.limit);
    if (!limit) return refuse("how many rows there are is not known");
    places_.row_limits.push_back(*limit);
  }
  if (places_.row_limits.empty()) return refuse("how many rows there are is not known");
  return {};
}

ExprPtr RowPlacer::inlined(const ExprPtr& expr, const std::set<std::string>& kept) const {
  return rewrite::inlined(expr, {}, kept, analysis());
}

bool RowPlacer::is_of_block(const ExprPtr& expr) const {
  return all_expressions(expr, [&](const Expr& node) {
    if (is<OpaqueExpression>(node) || is<InitializerList>(node)) return false;
    if (const auto* name = as<VariableReference>(node)) {
      const KernelParameter* parameter = places_.form->kernel.parameter(name->name);
      return parameter != nullptr && (!parameter->is_pointer || !analysis().is_written(name->name));
    }
    return true;
  });
}

ExprPtr RowPlacer::with_values_of_block(const ExprPtr& expr) {
  return rewrite_expr(expr, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
    const auto* binary = as<Binary>(node);
    const bool is_polynomial =
        binary == nullptr
            ? !is<Call>(node) && !is<Conditional>(node) && !is<Subscript>(node)
            : binary->op == BinaryOperator::add || binary->op == BinaryOperator::subtract ||
                  binary->op == BinaryOperator::multiply || is_comparison(binary->op) ||
                  binary->op == BinaryOperator::logical_and ||
                  binary->op == BinaryOperator::logical_or;
    if (is_polynomial || !node->type || !is_of_block(node)) return std::nullopt;
    for (const auto& [name, value] : places_.values_of_block) {
      if (equal(value, node)) return source::variable(name, node->type);
    }
    const std::string name = names_->fresh("of_block");
    places_.values_of_block.emplace_back(name, node);
    return source::variable(name, node->type);
  });
}

std::optional<Polynomial> RowPlacer::placed(const ExprPtr& expr) {
  const ExprPtr value = with_values_of_block(inlined(expr));
  const SymbolMeaning known = analysis().meaning();
  return to_polynomial(value, [&](const std::string& name) -> std::optional<Polynomial> {
    const bool is_new = name == places_.axis.coordinate ||
                        std::any_of(places_.values_of_block.begin(), places_.values_of_block.end(),
                                    [&](const auto& one) { return one.first == name; });
    return is_new ? Polynomial::symbol(name) : known(name);
  });
}

// The value as a declaration of the type takes it.
ExprPtr converted(const ExprPtr& value, const std::optional<ScalarType>& type) {
  if (!type || !value->type || *type == *value->type) return value;
  return with_type(cast(std::string(cuda_name(*type)), value), type);
}

ExprPtr inlined(const ExprPtr& expr, const ValuesByName& known, const std::set<std::string>& kept,
                const Analysis& analysis) {
  return rewrite_expr(expr, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
    const auto* variable = as<VariableReference>(node);
    if (variable == nullptr || kept.contains(variable->name)) return std::nullopt;
    if (const auto found = known.find(variable->name); found != known.end()) return found->second;
    const Variable* local = analysis.local(variable->name);
    const ExprPtr definition =
        local != nullptr && local->extents.empty() ? analysis.definition(variable->name) : nullptr;
    if (!definition || analysis.loop(variable->name) != nullptr) return std::nullopt;
    return converted(inlined(definition, known, kept, analysis), local->scalar);
  });
}

Result<LoopPlace> place_of_loop(const Block& body, const Stmt& loop, const std::string& what) {
  LoopPlace place;
  const Block* block = &body;
  while (block != nullptr) {
    const Block* inner = nullptr;
    for (auto stmt = block->begin(); stmt != block->end(); ++stmt) {
      if (stmt->get() == &loop) {
        place.behind.assign(stmt + 1, block->end());
        return place;
      }
      const bool holds = any_statement({*stmt}, [&](const Stmt& each) { return &each == &loop; });
      if (!holds) {
        place.before.push_back(*stmt);
        continue;
      }
      if (!is<Branch>(*stmt) && !is<Scope>(*stmt)) return refuse(what + " stands in another loop");
      if (stmt + 1 != block->end() || !otherwise_of(**stmt).empty())
        return refuse("something is done for rows that skip " + what);
      if (const auto* branch = as<Branch>(*stmt)) {
        const auto terms = conjuncts(branch->condition);
        place.guards.insert(place.guards.end(), terms.begin(), terms.end());
      }
      inner = &body_of(**stmt);
    }
    block = inner;
  }
  return refuse(what + " stands in another loop");
}

}  // namespace regraph::rewrite
