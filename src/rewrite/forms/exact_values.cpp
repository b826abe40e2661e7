#include "rewrite/forms/exact_values.h"

#include "source/match.h"

#include <string>

namespace regraph::rewrite {

namespace {

bool is_signed_integer(ScalarType type) {
  return type == ScalarType::i32 || type == ScalarType::i64;
}

bool is_unsigned_integer(ScalarType type) {
  return type == ScalarType::u32 || type == ScalarType::u64;
}

constexpr double kMostThreads = 1024;           // of a block, along any axis
constexpr double kMostBlocks = 2147483648.0;    // along any axis
constexpr double kMostOf32Bits = 4294967296.0;  // and below
constexpr double kMostOf64Bits = 9.0e18;        // less than 2^63

struct Exact {
  Polynomial value;
  std::optional<double> most;  // where it cannot be negative
};

class ExactReader {
 public:
  ExactReader(const Kernel& kernel, const Analysis& analysis)
      : kernel_(kernel), analysis_(analysis) {}

  std::optional<Exact> read(const ExprPtr& expr) const {
    if (const auto* literal = as<IntegerLiteral>(expr)) {
      const auto most = static_cast<double>(literal->value);
      return Exact{Polynomial(literal->value), most >= 0 ? std::optional(most) : std::nullopt};
    }
    if (!expr->type || !(is_signed_integer(*expr->type) || is_unsigned_integer(*expr->type)))
      return std::nullopt;
    if (const auto* variable = as<VariableReference>(expr))
      return of_variable(variable->name, *expr->type);
    if (const auto* builtin = as<Builtin>(expr)) {
      const bool counts_blocks =
          builtin->name.starts_with("blockIdx") || builtin->name.starts_with("gridDim");
      return Exact{Polynomial::symbol(builtin->name), counts_blocks ? kMostBlocks : kMostThreads};
    }
    if (const auto* cast = as<Cast>(expr)) {
      auto operand = read(cast->operand);
      return operand && holds(*operand, cast->operand, *expr->type) ? operand : std::nullopt;
    }
    const auto* binary = as<Binary>(expr);
    return binary != nullptr ? of_operation(*binary, *expr->type) : std::nullopt;
  }

 private:
  std::optional<Exact> of_variable(const std::string& name, ScalarType type) const {
    const ExprPtr definition = analysis_.definition(name);
    if (definition && definition->type == type) {
      if (auto value = read(definition)) return value;
    }
    if (!is_steady(name, kernel_, analysis_)) return std::nullopt;
    Exact result{Polynomial::symbol(name), std::nullopt};
    if (type == ScalarType::u32) result.most = kMostOf32Bits;
    return result;
  }

  std::optional<Exact> of_operation(const Binary& binary, ScalarType type) const {
    const auto left = read(binary.left);
    const auto right = read(binary.right);
    if (!left || !right || !holds(*left, binary.left, type) || !holds(*right, binary.right, type))
      return std::nullopt;
    Exact result;
    if (binary.op == BinaryOperator::add) {
      result.value = left->value + right->value;
      if (left->most && right->most) result.most = *left->most + *right->most;
    } else if (binary.op == BinaryOperator::multiply) {
      result.value = left->value * right->value;
      if (left->most && right->most) result.most = *left->most * *right->most;
    } else if (binary.op == BinaryOperator::subtract && is_signed_integer(type)) {
      result.value = left->value - right->value;
    } else {
      return std::nullopt;
    }
    if (is_signed_integer(type)) return result;
    const double room = type == ScalarType::u32 ? kMostOf32Bits : kMostOf64Bits;
    return result.most && *result.most < room ? std::optional(result) : std::nullopt;
  }

  // Whether the type has room for the value.
  static bool holds(const Exact& value, const ExprPtr& expr, ScalarType type) {
    const bool is_literal = is<IntegerLiteral>(expr);
    if (!is_literal && expr->type == type) return true;
    if (is_unsigned_integer(type) && !value.most) return false;
    if (is_literal) return true;
    const bool widens = expr->type && size_in_bytes(*expr->type) < size_in_bytes(type);
    return widens || (value.most && *value.most < kMostBlocks);
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
};

}  // namespace

std::optional<Polynomial> exact_value(const ExprPtr& expr, const Kernel& kernel,
                                      const Analysis& analysis) {
  const auto exact = ExactReader(kernel, analysis).read(expr);
  return exact ? std::optional(exact->value) : std::nullopt;
}

bool is_steady(const std::string& name, const Kernel& kernel, const Analysis& analysis) {
  if (analysis.is_single_definition(name) || analysis.loop(name) != nullptr) return true;
  const KernelParameter* parameter = kernel.parameter(name);
  return parameter != nullptr && !parameter->is_pointer && !analysis.is_written(name) &&
         analysis.local(name) == nullptr && analysis.meaning()(name).has_value();
}

}  // namespace regraph::rewrite
