#include "rewrite/forms/simplify.h"

#include "rewrite/forms/uses.h"
#include "source/build.h"
#include "source/counted_loop.h"
#include "source/match.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <limits>
#include <memory>
#include <optional>

namespace regraph::rewrite {

namespace {

// Of literals of int alone: others wrap around, or decide how what stands beside them is read.
std::optional<std::int64_t> int_value(const ExprPtr& expr) {
  const auto* literal = as<IntegerLiteral>(expr);
  const bool is_int = literal != nullptr && literal->type == ScalarType::i32;
  return is_int ? std::optional(literal->value) : std::nullopt;
}

// Of those and of what they become when they are made wider.
std::optional<std::int64_t> wide_value(const ExprPtr& expr) {
  const auto* widened = as<Cast>(expr);
  const bool is_wide = widened != nullptr && widened->type == ScalarType::i64;
  return int_value(is_wide ? widened->operand : expr);
}

std::optional<bool> truth_of(const ExprPtr& expr) {
  const auto* literal = as<IntegerLiteral>(expr);
  return literal != nullptr ? std::optional(literal->value != 0) : std::nullopt;
}

ExprPtr truth(bool holds) {
  return integer(holds ? 1 : 0, holds ? "true" : "false", ScalarType::boolean);
}

// Whether nobody notices when it is not evaluated.
bool is_idle(const ExprPtr& expr) {
  return all_expressions(expr, [&](const Expr& part) {
    return !is<Call>(part) && !is<Subscript>(part) && !is<OpaqueExpression>(part);
  });
}

std::optional<ExprPtr> folded(BinaryOperator op, std::int64_t left, std::int64_t right) {
  const auto number = [](std::int64_t value) -> std::optional<ExprPtr> {
    const bool fits = value >= 0 && value <= std::numeric_limits<std::int32_t>::max();
    return fits ? std::optional(integer(value)) : std::nullopt;
  };
  switch (op) {
    case BinaryOperator::add:
      return number(left + right);
    case BinaryOperator::subtract:
      return number(left - right);
    case BinaryOperator::multiply:
      return number(left * right);
    case BinaryOperator::divide:
      return right > 0 && left >= 0 ? number(left / right) : std::nullopt;
    case BinaryOperator::remainder:
      return right > 0 && left >= 0 ? number(left % right) : std::nullopt;
    default:
      const auto holds = comparison(op, left, right);
      return holds ? std::optional(truth(*holds)) : std::nullopt;
  }
}

// What is left of the operation where one side changes nothing, or decides alone; null: all of it.
ExprPtr decided(BinaryOperator op, const ExprPtr& left, const ExprPtr& right,
                const std::optional<ScalarType>& type) {
  const bool is_and = op == BinaryOperator::logical_and;
  if (is_and || op == BinaryOperator::logical_or) {
    const auto first = truth_of(left);
    const auto second = truth_of(right);
    if (first && *first != is_and) return truth(*first);
    if (second && *second != is_and && is_idle(left)) return truth(*second);
    if (first && right->type == ScalarType::boolean) return right;
    return second && *second == is_and && left->type == ScalarType::boolean ? left : nullptr;
  }
  const auto stays = [&](const ExprPtr& side) { return is_integral(side) && side->type == type; };
  const bool adds = op == BinaryOperator::add;
  const bool multiplies = op == BinaryOperator::multiply;
  const std::int64_t neutral = adds || op == BinaryOperator::subtract ? 0 : 1;
  const bool keeps_left =
      adds || op == BinaryOperator::subtract || multiplies || op == BinaryOperator::divide;
  if (keeps_left && wide_value(right) == neutral && stays(left)) return left;
  if ((adds || multiplies) && wide_value(left) == neutral && stays(right)) return right;
  const auto is_nothing = [&](const ExprPtr& side) {
    return wide_value(side) == 0 && side->type == type;
  };
  if (multiplies && is_nothing(left) && is_idle(right)) return left;
  if (multiplies && is_nothing(right) && is_idle(left)) return right;
  if (type != ScalarType::i32) return nullptr;
  if (op == BinaryOperator::remainder && int_value(right) == 1 && is_idle(left)) return integer(0);
  return nullptr;
}

class Simplifier final : public Mutator {
 private:
  using Mutator::mutate;

  ExprPtr mutate(const ExprPtr& expr, const Binary& binary) override {
    const ExprPtr left = run(binary.left);
    const ExprPtr right = run(binary.right);
    const auto a = int_value(left);
    const auto b = int_value(right);
    if (a && b) {
      if (const auto result = folded(binary.op, *a, *b)) return *result;
    }
    if (ExprPtr result = decided(binary.op, left, right, expr->type)) return result;
    if (left == binary.left && right == binary.right) return expr;
    return std::make_shared<Binary>(binary.op, left, right, expr->type);
  }

  ExprPtr mutate(const ExprPtr& expr, const Unary& unary) override {
    ExprPtr result = Mutator::mutate(expr, unary);
    const auto* negation = as_unary(result, UnaryOperator::logical_not);
    const auto known = negation != nullptr ? truth_of(negation->operand) : std::nullopt;
    return known ? truth(!*known) : result;
  }

  ExprPtr mutate(const ExprPtr& expr, const Cast& cast) override {
    ExprPtr result = Mutator::mutate(expr, cast);
    const auto* same = as<Cast>(result);
    const bool is_int = same != nullptr && same->target == "int" && int_value(same->operand);
    return is_int ? same->operand : result;
  }

  ExprPtr mutate(const ExprPtr& expr, const Conditional& choice) override {
    ExprPtr result = Mutator::mutate(expr, choice);
    const auto* same = as<Conditional>(result);
    const auto known = same != nullptr ? truth_of(same->condition) : std::nullopt;
    if (!known) return result;
    const ExprPtr& taken = *known ? same->then : same->otherwise;
    return taken->type == expr->type ? taken : result;
  }

  void append(const StmtPtr& stmt, Block& out) override {
    const StmtPtr result = run(stmt);
    if (const auto* branch = as<Branch>(result)) {
      if (const auto known = truth_of(branch->condition)) {
        splice(*known ? branch->body : branch->otherwise, out);
        return;
      }
    }
    const auto* loop = as<ForLoop>(result);
    const auto counted = loop != nullptr ? counted_loop_of(*result) : std::nullopt;
    const auto first = counted ? int_value(counted->first) : std::nullopt;
    const auto trips =
        first && loop->declaration() != nullptr ? counted->trip_count() : std::nullopt;
    if (trips == 0) return;
    if (trips == 1 && !holds_any(loop->body, {StmtKind::jump}) &&
        is_plain_counter(loop->declaration()->variable, *loop)) {
      splice(run(rewrite_expressions(loop->body, replace_variable(counted->name, counted->first))),
             out);
      return;
    }
    out.push_back(result);
  }

  // Whether the number can stand for it: of int, with no place of its own and no namesake inside.
  static bool is_plain_counter(const Variable& counter, const ForLoop& loop) {
    bool is_plain =
        counter.scalar == ScalarType::i32 && !declared_names(loop.body).contains(counter.name);
    walk_expressions(loop.body, [&](const Expr& expr) {
      for_each_passed_place(
          expr, [&](const Expr& place) { is_plain = is_plain && !is_named(place, counter.name); });
    });
    return is_plain;
  }

  static void splice(const Block& block, Block& out) {
    // Names that it declares may be declared behind it, too.
    if (!declared_names(block).empty()) {
      out.push_back(scope(block));
    } else {
      out.insert(out.end(), block.begin(), block.end());
    }
  }
};

}  // namespace

std::optional<bool> comparison(BinaryOperator op, std::int64_t left, std::int64_t right) {
  switch (op) {
    case BinaryOperator::less:
      return left < right;
    case BinaryOperator::less_equal:
      return left <= right;
    case BinaryOperator::greater:
      return left > right;
    case BinaryOperator::greater_equal:
      return left >= right;
    case BinaryOperator::equal:
      return left == right;
    case BinaryOperator::not_equal:
      return left != right;
    default:
      return std::nullopt;
  }
}

Block simplified(const Block& body) {
  return Simplifier().run(body);
}

}  // namespace regraph::rewrite
