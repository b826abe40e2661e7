#include "rewrite/analysis/strip_depth.h"

#include "rewrite/analysis/size_expression.h"
#include "source/match.h"

#include <cstdlib>

namespace regraph::rewrite {

using source::Analysis;
using source::as;
using source::BinaryOperator;
using source::ExprPtr;
using source::Polynomial;

namespace {

// All integers up to it have a single-precision number of their own.
constexpr std::int64_t kMostInSingle = std::int64_t{1} << 24;

// Behind names and casts.
ExprPtr bare(ExprPtr expr, const Analysis& analysis) {
  while (true) {
    const auto* variable = as<source::VariableReference>(expr);
    const auto* cast = as<source::Cast>(expr);
    const ExprPtr inner = variable != nullptr ? analysis.definition(variable->name)
                          : cast != nullptr   ? cast->operand
                                              : nullptr;
    if (!inner || analysis.loop(variable != nullptr ? variable->name : "") != nullptr) return expr;
    expr = inner;
  }
}

bool is_length(const ExprPtr& expr, std::int64_t length, const Analysis& analysis) {
  const ExprPtr number = bare(expr, analysis);
  if (const auto* literal = as<source::FloatingLiteral>(number))
    return std::strtod(literal->spelling.c_str(), nullptr) == static_cast<double>(length);
  const auto polynomial = analysis.polynomial(number);
  return polynomial && polynomial->constant() == length;
}

bool is_floating_type(const source::ScalarHint& type) {
  return type == ScalarType::f32 || type == ScalarType::f64;
}

bool fits_single(const Polynomial& value, const Problem& problem) {
  const auto size = size_of(value, problem);
  if (!size) return false;
  for (const auto* sizes : {&problem.tests, &problem.bench}) {
    for (const Symbols& symbols : *sizes) {
      const auto number = size->evaluate(symbols);
      if (!number || *number < 0 || *number > kMostInSingle) return false;
    }
  }
  return true;
}

}  // namespace

std::optional<Polynomial> strip_depth(const ExprPtr& strips, std::int64_t length,
                                      const Analysis& analysis, const Problem& problem) {
  const ExprPtr number = bare(strips, analysis);
  // Of the quotient in integers, which is rounded down.
  const auto dividend = [&](const ExprPtr& expr) -> std::optional<Polynomial> {
    const ExprPtr plain = bare(expr, analysis);
    const auto* division = source::as_binary(plain, BinaryOperator::divide);
    if (division == nullptr || is_floating_type(plain->type) ||
        !is_length(division->right, length, analysis)) {
      return std::nullopt;
    }
    return analysis.polynomial(division->left);
  };
  if (const auto value = dividend(number)) return *value - Polynomial(length - 1);
  if (const auto* sum = source::as_binary(number, BinaryOperator::add)) {
    for (const bool is_swapped : {false, true}) {
      const ExprPtr& one = is_swapped ? sum->left : sum->right;
      const auto value = dividend(is_swapped ? sum->right : sum->left);
      if (value && source::is_number(bare(one, analysis), 1)) return *value + Polynomial(1);
    }
  }
  const auto* call = as<source::Call>(number);
  if (call == nullptr || call->arguments.size() != 1 ||
      (call->function != "ceil" && call->function != "ceilf")) {
    return std::nullopt;
  }
  // A quotient of numbers that the type holds is rounded to no integer that it is not.
  const ExprPtr quotient = bare(call->arguments.front(), analysis);
  const auto* division = source::as_binary(quotient, BinaryOperator::divide);
  if (division == nullptr || !is_length(division->right, length, analysis)) return std::nullopt;
  auto value = analysis.polynomial(bare(division->left, analysis));
  if (!value) return std::nullopt;
  const bool is_double = quotient->type == ScalarType::f64 && call->function == "ceil";
  if (!is_double && !fits_single(*value, problem)) return std::nullopt;
  // Integers were divided before: that is k / 16 again.
  if (!is_floating_type(quotient->type)) return *value - Polynomial(length - 1);
  return value;
}

}  // namespace regraph::rewrite
