#include "source/counted_loop.h"

#include "source/build.h"
#include "source/match.h"
#include "source/polynomial.h"
#include "source/walk.h"

namespace regraph::source {
namespace {

// The value of an expression of literals, -3 among them.
std::optional<std::int64_t> literal_value(const ExprPtr& expr) {
  const auto polynomial =
      to_polynomial(expr, [](const std::string&) { return std::optional<Polynomial>(); });
  return polynomial ? polynomial->constant() : std::nullopt;
}

// What stands behind `name <`; null for any other condition.
ExprPtr limit_of(const ExprPtr& condition, const std::string& name) {
  ExprPtr limit;
  if (matches(condition, operation(BinaryOperator::less, named(name), any(limit)))) return limit;
  if (matches(condition, operation(BinaryOperator::less_equal, named(name), any(limit))))
    return add(limit, integer(1));
  return nullptr;
}

}  // namespace

bool is_changed(const std::string& name, const Block& block) {
  bool found = false;
  walk(block, [&](const Stmt& stmt) {
    found = found || is_named(target_of(stmt), name);
    walk_own_expressions(stmt, [&](const Expr& expr) {
      for_each_passed_place(expr,
                            [&](const Expr& place) { found = found || is_named(place, name); });
    });
  });
  return found;
}

std::optional<std::int64_t> CountedLoop::trip_count() const {
  const auto low = literal_value(first);
  const auto high = literal_value(limit);
  if (!low || !high) return std::nullopt;
  if (*high <= *low) return 0;
  return (*high - *low + stride - 1) / stride;
}

bool CountedLoop::starts_at_zero() const {
  return literal_value(first) == 0;
}

std::optional<std::int64_t> CountedLoop::trips_from_zero() const {
  return starts_at_zero() && stride == 1 ? trip_count() : std::nullopt;
}

std::optional<StridedLoop> strided_loop_of(const ForLoop& loop) {
  const Declaration* init = loop.declaration();
  const Assignment* advance = loop.advance();
  if (init == nullptr || !init->value || advance == nullptr) return std::nullopt;
  StridedLoop result{init->variable, init->value, nullptr, advance->value};
  const auto counter = named(result.counter.name);
  if (!matches(loop.condition, operation(BinaryOperator::less, counter, any(result.limit))) ||
      !is_named(advance->target, result.counter.name)) {
    return std::nullopt;
  }
  if (advance->op == AssignmentOperator::add) return result;
  const bool adds =
      advance->op == AssignmentOperator::assign &&
      (matches(advance->value, operation(BinaryOperator::add, counter, any(result.step))) ||
       matches(advance->value, operation(BinaryOperator::add, any(result.step), counter)));
  return adds ? std::optional(result) : std::nullopt;
}

std::optional<CountedLoop> counted_loop_of(const Stmt& stmt) {
  const auto* loop = as<ForLoop>(stmt);
  const Declaration* init = loop != nullptr ? loop->declaration() : nullptr;
  const Assignment* step = loop != nullptr ? loop->advance() : nullptr;
  if (init == nullptr || !init->value || step == nullptr) return std::nullopt;
  CountedLoop result;
  result.name = init->variable.name;
  result.first = init->value;
  result.limit = limit_of(loop->condition, result.name);
  if (!result.limit) return std::nullopt;
  const auto* stride = as<IntegerLiteral>(step->value);
  if (!is_named(step->target, result.name) || step->op != AssignmentOperator::add ||
      stride == nullptr || stride->value < 1) {
    return std::nullopt;
  }
  result.stride = stride->value;
  if (variables_of(result.limit).contains(result.name)) return std::nullopt;
  if (is_changed(result.name, loop->body)) return std::nullopt;
  return result;
}

}  // namespace regraph::source
