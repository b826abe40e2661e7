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

std::optional<Polynomial> to_polynomial(const ExprPtr& expr, const SymbolMeaning& meaning) {
  if (!expr) return std::nullopt;
  auto operand = [&](std::size_t index) { return to_polynomial(expr->operands[index], meaning); };
  switch (expr->kind) {
    case ExprKind::integer:
      return Polynomial(expr->number);
    case ExprKind::variable:
    case ExprKind::builtin:
      return meaning(expr->text);
    case ExprKind::cast:
      if (!expr->type || is_floating(*expr->type)) return std::nullopt;
      return operand(0);
    case ExprKind::unary: {
      if (expr->text != "-" && expr->text != "+") return std::nullopt;
      const auto inner = operand(0);
      if (!inner) return std::nullopt;
      return expr->text == "-" ? Polynomial() - *inner : *inner;
    }
    case ExprKind::binary: {
      const auto left = operand(0);
      const auto right = operand(1);
      if (!left || !right) return std::nullopt;
      if (expr->text == "+") return *left + *right;
      if (expr->text == "-") return *left - *right;
      if (expr->text == "*") return *left * *right;
      const auto amount = right->constant();
      if (expr->text == "<<" && amount && *amount >= 0 && *amount < 31) {
        return *left * Polynomial(std::int64_t{1} << *amount);
      }
      const auto numerator = left->constant();
      if (!numerator || !amount || *amount <= 0 || *numerator < 0) return std::nullopt;
      if (expr->text == "/") return Polynomial(*numerator / *amount);
      if (expr->text == "%") return Polynomial(*numerator % *amount);
      return std::nullopt;
    }
    default:
      return std::nullopt;
  }
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
      product = product ? binary("*", product, symbol) : symbol;
    }
    if (!product) {
      product = integer(magnitude);
    } else if (magnitude != 1) {
      product = binary("*", product, integer(magnitude));
    }
    if (!sum) {
      sum = factor < 0 ? unary("-", product) : product;
    } else {
      sum = binary(factor < 0 ? "-" : "+", sum, product);
    }
  }
  return sum ? sum : integer(0);
}

}  // namespace regraph::source
