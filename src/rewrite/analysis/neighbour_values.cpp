#include "rewrite/analysis/neighbour_values.h"

#include "affine/guard_terms.h"
#include "rewrite/analysis/vector_copy.h"
#include "source/build.h"
#include "source/known_functions.h"
#include "source/match.h"
#include "source/printer.h"
#include "source/walk.h"

#include <algorithm>

namespace regraph::rewrite {

namespace {

// Whether an index keeps its value in the type.
bool holds_index(std::optional<ScalarType> type) {
  constexpr std::size_t kIndexBytes = 4;
  return type && !is_floating(*type) && size_in_bytes(*type) >= kIndexBytes;
}

}  // namespace

void NeighbourValues::set_divisible(std::set<std::string> parameters) {
  divisible_ = std::move(parameters);
  common_names_.clear();
}

bool NeighbourValues::is_common(const ExprPtr& expr) {
  const std::set<std::string> before = divisible_;
  if (is_common_value(expr)) return true;
  if (divisible_ != before) set_divisible(before);
  return false;
}

bool NeighbourValues::is_common_value(const ExprPtr& expr) {
  if (is<IntegerLiteral>(expr) || is<FloatingLiteral>(expr)) return true;
  // The element's own thread and block are not those that handle its vector.
  if (const auto* builtin = as<Builtin>(expr))
    return builtin->name != "threadIdx.x" && builtin->name != "blockIdx.x";
  if (const auto* variable = as<VariableReference>(expr)) return is_common_name(variable->name);
  if (const auto* cast = as<Cast>(expr)) return cast->type && is_common(cast->operand);
  if (const auto* unary = as<Unary>(expr))
    return unary->op != UnaryOperator::address_of && is_common(unary->operand);
  if (const auto* choice = as<Conditional>(expr))
    return is_common(choice->condition) && is_common(choice->then) && is_common(choice->otherwise);
  if (const auto* call = as<Call>(expr)) {
    return source::is_pure(*call) && call->by_reference.empty() &&
           std::all_of(call->arguments.begin(), call->arguments.end(),
                       [&](const ExprPtr& argument) { return is_common(argument); });
  }
  if (const auto* load = as<Subscript>(expr)) {
    const auto* array = as<VariableReference>(load->base);
    return array != nullptr && analysis_.is_global_pointer(array->name) &&
           !analysis_.is_written(array->name) && is_common(load->index);
  }
  const auto* binary = as<Binary>(expr);
  if (binary == nullptr) return false;
  const auto divided = division(expr);
  if (divided && !divided->is_remainder && is_whole_quotient(*divided)) return true;
  return is_common(binary->left) && is_common(binary->right);
}

std::optional<Polynomial> NeighbourValues::place(const ExprPtr& expr) {
  if (is_element(expr)) return Polynomial::symbol(element_);
  if (const auto divided = division(expr)) {
    if (divided->is_remainder) return place_of_remainder(expr, *divided);
    if (auto part = place_of_quotient(*divided)) return part;
  }
  if (const auto* binary = as<Binary>(expr)) {
    const auto left = place(binary->left);
    const auto right = left ? place(binary->right) : std::nullopt;
    if (right && binary->op == BinaryOperator::add) return *left + *right;
    if (right && binary->op == BinaryOperator::subtract) return *left - *right;
    if (right && binary->op == BinaryOperator::multiply) return *left * *right;
    const auto bits = right ? right->constant() : std::nullopt;
    constexpr std::int64_t kMostBits = 30;
    if (bits && binary->op == BinaryOperator::shift_left && *bits >= 0 && *bits <= kMostBits)
      return *left * Polynomial(std::int64_t{1} << *bits);
  }
  if (is<Cast>(expr)) {
    const ExprPtr value = steady_value(expr);
    if (value != expr) return place(value);
  } else if (auto known = analysis_.polynomial(expr); known && !depends(*known)) {
    return known;
  }
  if (const ExprPtr value = steady_value(expr); value != expr) return place(value);
  return is_common(expr) ? std::optional(common_symbol(expr)) : std::nullopt;
}

std::optional<Polynomial> NeighbourValues::place_of_parts(const ExprPtr& expr,
                                                          std::int64_t divisor) {
  part_divisor_ = divisor;
  auto result = place(expr);
  part_divisor_ = 0;
  return result;
}

Polynomial NeighbourValues::part() {
  return Polynomial::symbol(std::string(kCommon) + "part");
}

std::optional<NeighbourValues::Digit> NeighbourValues::digit(const ExprPtr& expr) {
  const auto divided = division(expr);
  if (!divided) return std::nullopt;
  const std::set<std::string> before = divisible_;
  const auto constant = divided->divisor.constant();
  std::optional<Digit> result;
  if (counts_elements(divided->dividend)) {
    if (constant && *constant > 1 && width_ % *constant == 0) {
      result = Digit{.of_first = !divided->is_remainder,
                     .is_quotient = !divided->is_remainder,
                     .divisor = *constant};
    } else if (divided->is_remainder && is_whole_quotient(*divided)) {
      result = Digit{.of_first = true, .is_quotient = false, .divisor = width_};
    }
  }
  if (divisible_ == before) return result;
  set_divisible(before);
  return std::nullopt;
}

bool NeighbourValues::is_divisible(const Polynomial& polynomial) {
  std::set<std::string> divisible = divisible_;
  if (!require_divisible(polynomial, width_, facts_of(kernel_), divisible)) return false;
  divisible_ = std::move(divisible);
  return true;
}

bool NeighbourValues::is_common_name(const std::string& name) {
  if (name == element_) return false;
  if (kernel_.parameter(name) != nullptr) return !analysis_.is_written(name);
  const ExprPtr definition = analysis_.definition(name);
  if (!definition) return false;
  const auto known = common_names_.find(name);
  if (known != common_names_.end()) return known->second;
  const bool result = is_common(definition);
  return common_names_[name] = result;
}

bool NeighbourValues::is_element(const ExprPtr& expr) const {
  if (is_named(expr, element_)) return true;
  const ExprPtr value = steady_value(expr);
  return value != expr && is_element(value);
}

ExprPtr NeighbourValues::steady_value(const ExprPtr& expr) const {
  if (const auto* cast = as<Cast>(expr); cast != nullptr && holds_index(cast->type))
    return steady_value(cast->operand);
  const auto* variable = as<VariableReference>(expr);
  const ExprPtr definition = variable != nullptr ? analysis_.definition(variable->name) : nullptr;
  if (!definition) return expr;
  const Variable* local = analysis_.local(variable->name);
  return local != nullptr && holds_index(local->scalar) ? steady_value(definition) : expr;
}

bool NeighbourValues::counts_elements(const ExprPtr& expr) {
  if (is_element(expr)) return true;
  // (i % 128) % 16: what is left of an element's number is not negative either.
  const ExprPtr value = steady_value(expr);
  const auto divided = division(value);
  if (divided && divided->is_remainder && is_whole_quotient(*divided)) return true;
  const auto found = place(expr);
  const auto factor = found ? found->coefficient(element_) : std::nullopt;
  if (!factor || factor->constant() != 1) return false;
  const Polynomial rest = found->without({element_});
  const bool is_unsigned = expr->type == ScalarType::u32 || expr->type == ScalarType::u64;
  return (is_unsigned || affine::is_never_negative(rest)) && is_divisible(rest);
}

std::optional<NeighbourValues::Division> NeighbourValues::division(const ExprPtr& expr) const {
  const auto* binary = as<Binary>(expr);
  if (binary == nullptr) return std::nullopt;
  const BinaryOperator op = binary->op;
  if (op == BinaryOperator::divide || op == BinaryOperator::remainder) {
    if (binary->type && is_floating(*binary->type)) return std::nullopt;
    const auto divisor = analysis_.polynomial(binary->right);
    const auto number = divisor ? divisor->constant() : std::nullopt;
    if (!divisor || (number && *number < 1)) return std::nullopt;
    return Division{binary->left, *divisor, op == BinaryOperator::remainder};
  }
  if (op != BinaryOperator::shift_right && op != BinaryOperator::bit_and) return std::nullopt;
  const auto right = analysis_.polynomial(binary->right);
  const auto number = right ? right->constant() : std::nullopt;
  constexpr std::int64_t kMostBits = 30;
  if (!number || *number < 0) return std::nullopt;
  if (op == BinaryOperator::shift_right) {
    if (*number > kMostBits) return std::nullopt;
    return Division{binary->left, Polynomial(std::int64_t{1} << *number), false};
  }
  const std::int64_t divisor = *number + 1;
  if (divisor > (std::int64_t{1} << kMostBits) || (divisor & *number) != 0) return std::nullopt;
  return Division{binary->left, Polynomial(divisor), true};
}

bool NeighbourValues::is_whole_quotient(const Division& division) {
  return is_made_of_sizes(division.divisor) && counts_elements(division.dividend) &&
         is_divisible(division.divisor);
}

std::optional<Polynomial> NeighbourValues::place_of_remainder(const ExprPtr& expr,
                                                              const Division& division) {
  if (is_whole_quotient(division)) {
    const auto dividend = place(division.dividend);
    if (!dividend) return std::nullopt;
    return *dividend - division.divisor * quotient_symbol(division);
  }
  return is_common(expr) ? std::optional(common_symbol(expr)) : std::nullopt;
}

std::optional<Polynomial> NeighbourValues::place_of_quotient(const Division& division) {
  const bool is_part = part_divisor_ > 1 && width_ % part_divisor_ == 0 &&
                       division.divisor == Polynomial(part_divisor_) &&
                       is_element(division.dividend);
  return is_part ? std::optional(part()) : std::nullopt;
}

Polynomial NeighbourValues::common_symbol(const ExprPtr& expr) {
  const auto divided = division(expr);
  if (divided && !divided->is_remainder && is_whole_quotient(*divided))
    return quotient_symbol(*divided);
  return Polynomial::symbol(kCommon + print(written_out(expr)));
}

Polynomial NeighbourValues::quotient_symbol(const Division& division) const {
  const std::string dividend =
      is_element(division.dividend) ? "element" : print(written_out(division.dividend));
  return Polynomial::symbol(kCommon + dividend + " / " + print(to_expression(division.divisor)));
}

ExprPtr NeighbourValues::written_out(const ExprPtr& expr) const {
  return rewrite_expr(expr, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
    const auto* variable = as<VariableReference>(node);
    if (variable == nullptr || variable->name == element_) return std::nullopt;
    const ExprPtr definition = analysis_.definition(variable->name);
    return definition ? std::optional(written_out(definition)) : std::nullopt;
  });
}

bool NeighbourValues::is_made_of_sizes(const Polynomial& polynomial) const {
  const auto symbols = polynomial.symbols();
  return std::all_of(symbols.begin(), symbols.end(), [&](const std::string& symbol) {
    return kernel_.parameter(symbol) != nullptr;
  });
}

bool NeighbourValues::depends(const Polynomial& polynomial) {
  return polynomial.mentions("threadIdx.x") || polynomial.mentions("blockIdx.x");
}

}  // namespace regraph::rewrite
