#include "affine/index_range.h"

#include "affine/block_geometry.h"
#include "source/match.h"

#include <algorithm>
#include <string>

namespace regraph::affine {

namespace {

// Far beyond shared memory, and products of two such numbers fit.
constexpr std::int64_t kLargestBound = 1 << 30;
// Definitions of definitions: more than people write.
constexpr int kDeepestDefinition = 32;

class RangeFinder {
 public:
  RangeFinder(const Analysis& analysis, const Dim3& block) : analysis_(analysis), block_(block) {}

  [[nodiscard]] std::optional<IndexRange> find(const ExprPtr& expr, int depth = 0) const {
    if (expr == nullptr || depth > kDeepestDefinition) return std::nullopt;
    auto found = unlimited(expr, depth);
    if (found && (found->low < -kLargestBound || found->high > kLargestBound)) found.reset();
    return found;
  }

 private:
  using Range = std::optional<IndexRange>;

  [[nodiscard]] Range unlimited(const ExprPtr& expr, int depth) const {
    if (const auto* number = as<IntegerLiteral>(expr))
      return IndexRange{number->value, number->value};
    if (const auto* builtin = as<Builtin>(expr)) return of_builtin(builtin->name);
    if (const auto* variable = as<VariableReference>(expr))
      return of_variable(variable->name, depth);
    if (const auto* minus = as_unary(expr, UnaryOperator::minus)) {
      const Range negated = find(minus->operand, depth + 1);
      return negated ? Range(IndexRange{-negated->high, -negated->low}) : std::nullopt;
    }
    if (const auto* binary = as<Binary>(expr)) return of_binary(*binary, depth);
    if (const auto* cast = as<Cast>(expr)) {
      return is_index_type(expr->type) ? find(cast->operand, depth + 1) : std::nullopt;
    }
    return std::nullopt;
  }

  [[nodiscard]] Range of_builtin(const std::string& name) const {
    for (int axis = 0; axis < 3; ++axis) {
      const std::string letter = kAxes[static_cast<std::size_t>(axis)];
      const std::int64_t threads = extent(block_, axis);
      if (name == "threadIdx." + letter) return IndexRange{0, threads - 1};
      if (name == "blockDim." + letter) return IndexRange{threads, threads};
    }
    return std::nullopt;
  }

  [[nodiscard]] Range of_variable(const std::string& name, int depth) const {
    if (!analysis_.is_single_definition(name)) return std::nullopt;
    if (!is_index_type(analysis_.local(name)->scalar)) return std::nullopt;
    const CountedLoop* loop = analysis_.loop(name);
    if (loop == nullptr) return find(analysis_.definition(name), depth + 1);
    const Range first = find(loop->first, depth + 1);
    if (!first) return std::nullopt;
    if (const auto trips = loop->trip_count())
      return IndexRange{first->low,
                        first->low + loop->stride * std::max<std::int64_t>(*trips - 1, 0)};
    const Range limit = find(loop->limit, depth + 1);
    if (!limit) return std::nullopt;
    return IndexRange{first->low, std::max(first->low, limit->high - 1)};
  }

  [[nodiscard]] Range of_binary(const Binary& binary, int depth) const {
    const Range left = find(binary.left, depth + 1);
    const Range right = find(binary.right, depth + 1);
    if (!right) return std::nullopt;
    const bool divides = right->low == right->high && right->low > 0;
    if (binary.op == BinaryOperator::remainder) {
      if (!divides || !left || left->low < 0) return std::nullopt;
      return IndexRange{0, std::min(left->high, right->low - 1)};
    }
    if (!left) return std::nullopt;
    switch (binary.op) {
      case BinaryOperator::add:
        return IndexRange{left->low + right->low, left->high + right->high};
      case BinaryOperator::subtract:
        return IndexRange{left->low - right->high, left->high - right->low};
      case BinaryOperator::multiply: {
        const auto [low, high] = std::minmax({left->low * right->low, left->low * right->high,
                                              left->high * right->low, left->high * right->high});
        return IndexRange{low, high};
      }
      case BinaryOperator::divide:
        if (!divides || left->low < 0) return std::nullopt;
        return IndexRange{left->low / right->low, left->high / right->low};
      default:
        return std::nullopt;
    }
  }

  const Analysis& analysis_;
  const Dim3& block_;
};

}  // namespace

bool is_index_type(const std::optional<ScalarType>& type) {
  return type && !is_floating(*type) && size_in_bytes(*type) >= sizeof(std::int32_t);
}

bool holds_division(const ExprPtr& expr, const Analysis& analysis) {
  return any_expression(expr, [&](const Expr& part) {
    const auto* binary = as<Binary>(part);
    if (binary != nullptr)
      return binary->op == BinaryOperator::divide || binary->op == BinaryOperator::remainder;
    const auto* variable = as<VariableReference>(part);
    const ExprPtr definition = variable != nullptr ? analysis.definition(variable->name) : nullptr;
    return definition && holds_division(definition, analysis);
  });
}

std::optional<IndexRange> range_of(const ExprPtr& expr, const Analysis& analysis,
                                   const Dim3& block) {
  return RangeFinder(analysis, block).find(expr);
}

}  // namespace regraph::affine
