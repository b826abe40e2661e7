#include "source/polynomial.h"

#include "source/build.h"

#include <algorithm>
#include <utility>

namespace regraph::source {

Polynomial::Polynomial(std::int64_t constant) {
  if (constant != 0) terms_.emplace(Monomial{}, constant);
}

Polynomial Polynomial::symbol(const std::string& name) {
  Polynomial result;
  result.terms_.emplace(Monomial{name}, 1);
  return result;
}

void Polynomial::add_term(const Monomial& monomial, std::int64_t coefficient) {
  const auto [entry, is_new] = terms_.emplace(monomial, coefficient);
  if (!is_new) entry->second += coefficient;
  if (entry->second == 0) terms_.erase(entry);
}

Polynomial Polynomial::operator+(const Polynomial& other) const {
  Polynomial result = *this;
  for (const auto& [monomial, coefficient] : other.terms_)
    result.add_term(monomial, coefficient);
  return result;
}

Polynomial Polynomial::operator-(const Polynomial& other) const {
  Polynomial result = *this;
  for (const auto& [monomial, coefficient] : other.terms_)
    result.add_term(monomial, -coefficient);
  return result;
}

Polynomial Polynomial::operator*(const Polynomial& other) const {
  Polynomial result;
  for (const auto& [left, left_coefficient] : terms_) {
    for (const auto& [right, right_coefficient] : other.terms_) {
      Monomial product = left;
      product.insert(product.end(), right.begin(), right.end());
      std::sort(product.begin(), product.end());
      result.add_term(product, left_coefficient * right_coefficient);
    }
  }
  return result;
}

std::optional<std::int64_t> Polynomial::constant() const {
  if (terms_.empty()) return 0;
  if (terms_.size() == 1 && terms_.begin()->first.empty()) return terms_.begin()->second;
  return std::nullopt;
}

std::set<std::string> Polynomial::symbols() const {
  std::set<std::string> names;
  for (const auto& [monomial, coefficient] : terms_)
    names.insert(monomial.begin(), monomial.end());
  return names;
}

bool Polynomial::mentions(const std::string& name) const {
  return symbols().contains(name);
}

std::optional<Polynomial> Polynomial::coefficient(const std::string& name) const {
  Polynomial result;
  for (const auto& [monomial, factor] : terms_) {
    const auto occurrences = std::count(monomial.begin(), monomial.end(), name);
    if (occurrences == 0) continue;
    if (occurrences > 1) return std::nullopt;
    Monomial rest = monomial;
    rest.erase(std::find(rest.begin(), rest.end(), name));
    result.add_term(rest, factor);
  }
  return result;
}

Polynomial Polynomial::without(const std::set<std::string>& names) const {
  Polynomial result;
  for (const auto& [monomial, factor] : terms_) {
    const bool mentioned =
        std::any_of(monomial.begin(), monomial.end(),
                    [&](const std::string& name) { return names.contains(name); });
    if (!mentioned) result.add_term(monomial, factor);
  }
  return result;
}

Polynomial Polynomial::substitute(const std::string& name, const Polynomial& value) const {
  Polynomial result;
  for (const auto& [monomial, factor] : terms_) {
    Polynomial term(factor);
    for (const std::string& symbol_name : monomial) {
      term = term * (symbol_name == name ? value : symbol(symbol_name));
    }
    result = result + term;
  }
  return result;
}

namespace {

std::optional<Polynomial> operation(BinaryOperator op, const Polynomial& left,
                                    const Polynomial& right) {
  const auto amount = right.constant();
  const auto numerator = left.constant();
  const bool divides = numerator && amount && *amount > 0 && *numerator >= 0;
  switch (op) {
    case BinaryOperator::add:
      return left + right;
    case BinaryOperator::subtract:
      return left - right;
    case BinaryOperator::multiply:
      return left * right;
    case BinaryOperator::shift_left:
      if (!amount || *amount < 0 || *amount >= 31) return std::nullopt;
      return left * Polynomial(std::int64_t{1} << *amount);
    case BinaryOperator::divide:
      return divides ? std::optional(Polynomial(*numerator / *amount)) : std::nullopt;
    case BinaryOperator::remainder:
      return divides ? std::optional(Polynomial(*numerator % *amount)) : std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<Polynomial> to_polynomial(const ExprPtr& expr, const SymbolMeaning& meaning) {
  if (const auto* literal = as<IntegerLiteral>(expr)) return Polynomial(literal->value);
  if (const auto* variable = as<VariableReference>(expr)) return meaning(variable->name);
  if (const auto* builtin = as<Builtin>(expr)) return meaning(builtin->name);
  if (const auto* cast = as<Cast>(expr)) {
    if (!cast->type || is_floating(*cast->type)) return std::nullopt;
    return to_polynomial(cast->operand, meaning);
  }
  if (const auto* unary = as<Unary>(expr)) {
    if (unary->op == UnaryOperator::plus) return to_polynomial(unary->operand, meaning);
    if (unary->op != UnaryOperator::minus) return std::nullopt;
    const auto inner = to_polynomial(unary->operand, meaning);
    return inner ? std::optional(Polynomial() - *inner) : std::nullopt;
  }
  // 24 bits hold an index of a grid, as all of them are taken not to wrap.
  if (const auto* call = as<Call>(expr);
      call != nullptr && call->arguments.size() == 2 &&
      (call->function == "__umul24" || call->function == "__mul24")) {
    const bool is_index = is<Builtin>(call->arguments[0]) && is<Builtin>(call->arguments[1]);
    const auto left = is_index ? to_polynomial(call->arguments[0], meaning) : std::nullopt;
    const auto right = is_index ? to_polynomial(call->arguments[1], meaning) : std::nullopt;
    return left && right ? std::optional(*left * *right) : std::nullopt;
  }
  if (const auto* binary = as<Binary>(expr)) {
    const auto left = to_polynomial(binary->left, meaning);
    const auto right = to_polynomial(binary->right, meaning);
    return left && right ? operation(binary->op, *left, *right) : std::nullopt;
  }
  return std::nullopt;
}

ExprPtr to_expression(const Polynomial& polynomial, bool wide) {
  const std::string type = wide ? "long long" : "int";
  ExprPtr sum;
  // Constants last: "row * K + k + 1" reads better than "1 + row * K + k".
  std::vector<std::pair<Monomial, std::int64_t>> terms(polynomial.terms().rbegin(),
                                                       polynomial.terms().rend());
  for (const auto& [monomial, factor] : terms) {
    const std::int64_t magnitude = factor < 0 ? -factor : factor;
    ExprPtr product;
    for (const std::string& name : monomial) {
      const bool is_builtin = name.find('.') != std::string::npos;
      ExprPtr symbol = is_builtin ? builtin(name) : variable(name);
      if (is_builtin || (wide && !product)) symbol = cast(type, symbol);
      product = product ? multiply(product, symbol) : symbol;
    }
    if (!product) {
      product = integer(magnitude);
    } else if (magnitude != 1) {
      product = multiply(product, integer(magnitude));
    }
    if (!sum) {
      sum = factor < 0 ? unary(UnaryOperator::minus, product) : product;
    } else {
      sum = factor < 0 ? subtract(sum, product) : add(sum, product);
    }
  }
  return sum ? sum : integer(0);
}

}  // namespace regraph::source
