#include "rewrite/transform/strip_headers.h"

#include "affine/block_geometry.h"
#include "affine/constraints.h"
#include "affine/global_index.h"
#include "rewrite/forms/constant_lengths.h"
#include "rewrite/forms/induction_variables.h"
#include "rewrite/forms/uses.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/match.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

// Names and extents of the block in headers, as numbers.
class HeaderNumbers final : public Mutator {
 public:
  HeaderNumbers(const Analysis& analysis, const Dim3& block) : analysis_(analysis), block_(block) {}

 private:
  using Mutator::mutate;

  StmtPtr mutate(const StmtPtr& stmt, const ForLoop& loop) override {
    auto result = std::make_shared<ForLoop>(loop);
    result->body = run(loop.body);
    if (loop.condition) result->condition = numbers_in(loop.condition);
    if (const auto* step = loop.advance())
      result->step = assign(step->target, step->op, numbers_in(step->value));
    const bool is_same = result->body == loop.body && result->condition == loop.condition &&
                         (!loop.step || value_of(*result->step) == value_of(*loop.step));
    return is_same ? stmt : result;
  }

  ExprPtr numbers_in(const ExprPtr& expr) const {
    return rewrite_expr(expr, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
      if (!is<VariableReference>(node) && !is<Builtin>(node)) return std::nullopt;
      const auto polynomial = analysis_.polynomial(node);
      const auto number =
          polynomial ? with_block_extents(*polynomial, block_).constant() : std::nullopt;
      return number ? std::optional(integer(*number)) : std::nullopt;
    });
  }

  const Analysis& analysis_;
  const Dim3& block_;
};

// Whether there is a loop of so many rounds in the block.
bool holds_loop_of(const Block& body, std::int64_t rounds) {
  return any_statement(body, [&](const Stmt& stmt) {
    const auto counted = counted_loop_of(stmt);
    return counted && counted->trips_from_zero() == rounds;
  });
}

// Loops over strips by ones from zero.
class StripCounter final : public Mutator {
 public:
  explicit StripCounter(const Kernel& kernel) : analysis_(kernel), taken_(used_names(kernel)) {}

 private:
  using Mutator::mutate;

  StmtPtr mutate(const StmtPtr& stmt, const ForLoop& loop) override {
    const auto counted = counted_loop_of(loop);
    const bool is_plain = !counted || (counted->stride == 1 && counted->starts_at_zero()) ||
                          analysis_.loop(counted->name) == nullptr ||
                          !(holds_any(loop.body, {StmtKind::barrier}) ||
                            (counted->stride > 1 && holds_loop_of(loop.body, counted->stride)));
    if (is_plain) return Mutator::mutate(stmt, loop);
    const Variable& counter = loop.declaration()->variable;
    const auto first = analysis_.polynomial(counted->first);
    const auto limit = first ? analysis_.polynomial(counted->limit) : std::nullopt;
    const bool may_wrap = counter.scalar != ScalarType::i32 && !counted->starts_at_zero();
    if (!limit || may_wrap) return Mutator::mutate(stmt, loop);
    const ExprPtr number = variable(next_name());
    ExprPtr strips = to_expression(*limit - *first + Polynomial(counted->stride - 1));
    if (counted->stride != 1) strips = divide(strips, integer(counted->stride));
    ExprPtr value = multiply(number, integer(counted->stride));
    if (!counted->starts_at_zero()) value = source::add(counted->first, value);
    value = in_type_of(*variable(counted->name, counter.scalar), value);
    const Block body = rewrite_expressions(run(loop.body), replace_variable(counted->name, value));
    auto result = std::make_shared<ForLoop>(loop);
    result->init = declare_integer(to<VariableReference>(number).name, integer(0), false);
    result->condition = source::less(number, strips);
    result->step = assign(number, AssignmentOperator::add, integer(1));
    result->body = body;
    return result;
  }

  std::string next_name() {
    std::string name = "strip";
    for (int number = 2; !taken_.insert(name).second; ++number)
      name = "strip_" + std::to_string(number);
    return name;
  }

  const Analysis analysis_;
  std::set<std::string> taken_;
};

// Second limits as guards.
class LimitGuards final : public Mutator {
 public:
  explicit LimitGuards(const Kernel& kernel) : analysis_(kernel) {}

 private:
  using Mutator::mutate;

  StmtPtr mutate(const StmtPtr& stmt, const ForLoop& original) override {
    StmtPtr inner = Mutator::mutate(stmt, original);
    const auto& loop = to<ForLoop>(inner);
    const Declaration* init = loop.declaration();
    if (init == nullptr || !loop.condition ||
        holds_any(loop.body, {StmtKind::barrier, StmtKind::jump, StmtKind::return_})) {
      return inner;
    }
    ExprPtr length;
    std::vector<ExprPtr> guards;
    for (const ExprPtr& term : limits_of(loop.condition, init->variable.name)) {
      const StmtPtr alone = source::loop(loop.init, term, loop.step, loop.body);
      const auto counted = counted_loop_of(*alone);
      if (counted && counted->trip_count() && !length) {
        length = term;
      } else if (fails_from_then_on(term, init->variable.name, loop)) {
        guards.push_back(term);
      } else {
        return inner;
      }
    }
    if (!length || guards.empty()) return inner;
    auto result = std::make_shared<ForLoop>(loop);
    result->condition = length;
    result->body = {branch(conjunction(guards), loop.body)};
    return result;
  }

  // The terms of the condition, a minimum as two of them.
  std::vector<ExprPtr> limits_of(const ExprPtr& condition, const std::string& counter) const {
    std::vector<ExprPtr> limits;
    for (const ExprPtr& term : conjuncts(condition)) {
      const auto* order = as_binary(term, BinaryOperator::less);
      std::optional<std::pair<ExprPtr, ExprPtr>> sides;
      if (order != nullptr && is_named(order->left, counter)) {
        ExprPtr limit = order->right;
        const auto* name = as<VariableReference>(limit);
        if (name != nullptr && analysis_.definition(name->name))
          limit = analysis_.definition(name->name);
        sides = sides_of_minimum(limit);
      }
      if (!sides) {
        limits.push_back(term);
        continue;
      }
      limits.push_back(source::less(order->left, sides->first));
      limits.push_back(source::less(order->left, sides->second));
    }
    return limits;
  }

  // Whether the comparison, once it does not hold, does not hold in later iterations either.
  bool fails_from_then_on(const ExprPtr& term, const std::string& counter,
                          const ForLoop& loop) const {
    // The counter of a loop that ends in two ways is none to the analysis.
    const auto slack = slack_of(term, [&](const ExprPtr& side) {
      return to_polynomial(side, [&](const std::string& name) {
        return name == counter ? std::optional(Polynomial::symbol(name))
                               : analysis_.meaning()(name);
      });
    });
    const auto factor = slack ? slack->coefficient(counter) : std::nullopt;
    const auto number = factor ? factor->constant() : std::nullopt;
    const auto* step = loop.advance();
    return number && *number < 0 && step != nullptr && step->op == AssignmentOperator::add &&
           is<IntegerLiteral>(step->value);
  }

  const Analysis analysis_;
};

}  // namespace

Block with_plain_strips(const Kernel& kernel, const Dim3& block) {
  Kernel result = kernel;
  {
    const Analysis analysis(kernel);
    result.body = HeaderNumbers(analysis, block).run(result.body);
  }
  result.body = StripCounter(result).run(result.body);
  result.body = without_induction_variables(result);
  result.body = LimitGuards(result).run(result.body);
  return result.body;
}

}  // namespace regraph::rewrite
