#include "source/polynomial.h"

#include "source/build.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <string_view>
#include <system_error>
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

// By degree, then by symbols: an order that products keep.
bool is_below(const Monomial& one, const Monomial& other) {
  return one.size() != other.size() ? one.size() < other.size() : one < other;
}

const std::pair<const Monomial, std::int64_t>& leading_term(const Polynomial& polynomial) {
  return *std::max_element(
      polynomial.terms().begin(), polynomial.terms().end(),
      [](const auto& one, const auto& other) { return is_below(one.first, other.first); });
}

}  // namespace

std::optional<Polynomial> exact_quotient(Polynomial dividend, const Polynomial& divisor) {
  if (divisor.is_zero()) return std::nullopt;
  const auto& [names, number] = leading_term(divisor);
  Polynomial result;
  while (!dividend.is_zero()) {
    const auto& [monomial, factor] = leading_term(dividend);
    if (factor % number != 0 ||
        !std::includes(monomial.begin(), monomial.end(), names.begin(), names.end())) {
      return std::nullopt;
    }
    Monomial rest;
    std::set_difference(monomial.begin(), monomial.end(), names.begin(), names.end(),
                        std::back_inserter(rest));
    Polynomial term(factor / number);
    for (const std::string& name : rest)
      term = term * Polynomial::symbol(name);
    result = result + term;
    dividend = dividend - term * divisor;
  }
  return result;
}

namespace {

// Quotients are symbols named "(dividend / divisor)", and "(dividend >> n)" where they are rounded
// down and the dividend may be negative.
constexpr std::string_view kDivides = " / ";
constexpr std::string_view kShifts = " >> ";
// Shifts by more would leave nothing of an index.
constexpr std::int64_t kMostShifted = 30;

std::string text_of(const Polynomial& polynomial) {
  std::string text;
  for (const auto& [monomial, factor] : polynomial.terms()) {
    if (!text.empty()) text += '+';
    text += std::to_string(factor);
    for (const std::string& name : monomial)
      text += '*' + name;
  }
  return text;
}

// A positive number, or a product of one with symbols that are no quotients.
bool is_divisor(const Polynomial& polynomial) {
  if (polynomial.terms().size() != 1) return false;
  const auto& [monomial, factor] = *polynomial.terms().begin();
  return factor > 0 && std::none_of(monomial.begin(), monomial.end(), is_quotient);
}

// Reads the text of a divisor; nothing where it is none of text_of, as of symbols that others made.
std::optional<Polynomial> divisor_from(std::string_view text) {
  std::int64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  Polynomial result(number);
  while (text.starts_with('*')) {
    text.remove_prefix(1);
    const std::size_t end = std::min(text.find('*'), text.size());
    result = result * Polynomial::symbol(std::string(text.substr(0, end)));
    text.remove_prefix(end);
  }
  return text.empty() ? std::optional(std::move(result)) : std::nullopt;
}

// The quotient as a symbol. Nothing where quotients of quotients make its name longer than any
// index that is asked about: a remainder names its dividend twice, so that names double with each
// level.
std::optional<Polynomial> quotient_symbol(const std::string& dividend, std::string_view operation,
                                          const std::string& divisor) {
  constexpr std::size_t kMostLetters = 2000;
  if (dividend.size() + divisor.size() > kMostLetters) return std::nullopt;
  return Polynomial::symbol('(' + dividend + std::string(operation) + divisor + ')');
}

// Rounded towards zero.
std::optional<Polynomial> quotient(const Polynomial& dividend, const Polynomial& divisor) {
  if (!is_divisor(divisor)) return std::nullopt;
  if (auto exact = exact_quotient(dividend, divisor)) return exact;
  const auto number = dividend.constant();
  const auto amount = divisor.constant();
  if (number && amount) return Polynomial(*number / *amount);
  std::string text = text_of(dividend);
  std::string by = text_of(divisor);
  if (dividend.terms().size() == 1) {
    const auto& [monomial, factor] = *dividend.terms().begin();
    // (i / a) / b is i / (a * b).
    if (factor == 1 && monomial.size() == 1 && is_quotient(monomial[0])) {
      const std::string& inner = monomial[0];
      const std::size_t mark = inner.rfind(kDivides);
      const std::size_t shift = inner.rfind(kShifts);
      const bool divides =
          mark != std::string::npos && (shift == std::string::npos || shift < mark);
      const std::size_t begin = mark + kDivides.size();
      const auto before =
          divides ? divisor_from(std::string_view(inner).substr(begin, inner.size() - begin - 1))
                  : std::nullopt;
      if (before) {
        text = inner.substr(1, mark - 1);
        by = text_of(*before * divisor);
      }
    }
  }
  return quotient_symbol(text, kDivides, by);
}

// Whether no thread makes it negative: a sum of builtins.
bool is_of_builtins(const Polynomial& polynomial) {
  return std::all_of(polynomial.terms().begin(), polynomial.terms().end(), [](const auto& term) {
    return term.second >= 0 &&
           std::all_of(term.first.begin(), term.first.end(), [](const std::string& name) {
             return !is_quotient(name) && name.find('.') != std::string::npos;
           });
  });
}

// Rounded down.
std::optional<Polynomial> shifted(const Polynomial& dividend, std::int64_t bits) {
  if (bits < 0 || bits > kMostShifted) return std::nullopt;
  const Polynomial divisor(std::int64_t{1} << bits);
  if (is_of_builtins(dividend)) return quotient(dividend, divisor);
  if (auto exact = exact_quotient(dividend, divisor)) return exact;
  return quotient_symbol(text_of(dividend), kShifts, std::to_string(bits));
}

// dividend & mask, for masks of the lowest bits.
std::optional<Polynomial> masked(const Polynomial& dividend, std::int64_t mask) {
  if (mask < 1 || (mask & (mask + 1)) != 0) return std::nullopt;
  std::int64_t bits = 0;
  while ((std::int64_t{1} << bits) <= mask)
    ++bits;
  const auto high = shifted(dividend, bits);
  return high ? std::optional(dividend - Polynomial(mask + 1) * *high) : std::nullopt;
}

std::size_t degree(const Polynomial& polynomial) {
  std::size_t result = 0;
  for (const auto& [monomial, factor] : polynomial.terms())
    result = std::max(result, monomial.size());
  return result;
}

// Products of sums of sums, and powers of powers, are no index that anybody asks about, and may be
// larger than memory.
bool is_too_large(const Polynomial& left, const Polynomial& right) {
  constexpr std::size_t kMostTerms = 1024;
  constexpr std::size_t kMostDegree = 16;
  return left.terms().size() * right.terms().size() > kMostTerms ||
         degree(left) + degree(right) > kMostDegree;
}

std::optional<Polynomial> operation(BinaryOperator op, const Polynomial& left,
                                    const Polynomial& right) {
  if (is_too_large(left, right)) return std::nullopt;
  const auto amount = right.constant();
  switch (op) {
    case BinaryOperator::add:
      return left + right;
    case BinaryOperator::subtract:
      return left - right;
    case BinaryOperator::multiply:
      return left * right;
    case BinaryOperator::shift_left:
      if (!amount || *amount < 0 || *amount > kMostShifted) return std::nullopt;
      return left * Polynomial(std::int64_t{1} << *amount);
    case BinaryOperator::shift_right:
      return amount ? shifted(left, *amount) : std::nullopt;
    case BinaryOperator::bit_and:
      return amount ? masked(left, *amount) : std::nullopt;
    case BinaryOperator::divide:
      return quotient(left, right);
    case BinaryOperator::remainder: {
      const auto whole = quotient(left, right);
      return whole ? std::optional(left - right * *whole) : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

}  // namespace

bool is_quotient(const std::string& symbol) {
  return symbol.starts_with('(');
}

std::set<std::string> names_in_quotient(const std::string& symbol) {
  std::set<std::string> names;
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  };
  for (auto begin = symbol.begin(); begin != symbol.end();) {
    begin = std::find_if(begin, symbol.end(), is_part);
    const auto end = std::find_if_not(begin, symbol.end(), is_part);
    if (begin != end && std::isdigit(static_cast<unsigned char>(*begin)) == 0)
      names.emplace(begin, end);
    begin = end;
  }
  return names;
}

std::optional<Polynomial> without_quotients(std::optional<Polynomial> polynomial) {
  if (!polynomial) return polynomial;
  for (const auto& [monomial, factor] : polynomial->terms()) {
    if (std::any_of(monomial.begin(), monomial.end(), is_quotient)) return std::nullopt;
  }
  return polynomial;
}

std::optional<Polynomial> to_polynomial(const ExprPtr& expr, const SymbolMeaning& meaning) {
  return without_quotients(to_polynomial_with_quotients(expr, meaning));
}

std::optional<Polynomial> to_polynomial_with_quotients(const ExprPtr& expr,
                                                       const SymbolMeaning& meaning) {
  if (const auto* literal = as<IntegerLiteral>(expr)) return Polynomial(literal->value);
  if (const auto* variable = as<VariableReference>(expr)) return meaning(variable->name);
  if (const auto* builtin = as<Builtin>(expr)) return meaning(builtin->name);
  if (const auto* cast = as<Cast>(expr)) {
    if (!cast->type || is_floating(*cast->type)) return std::nullopt;
    return to_polynomial_with_quotients(cast->operand, meaning);
  }
  if (const auto* unary = as<Unary>(expr)) {
    if (unary->op == UnaryOperator::plus)
      return to_polynomial_with_quotients(unary->operand, meaning);
    if (unary->op != UnaryOperator::minus) return std::nullopt;
    const auto inner = to_polynomial_with_quotients(unary->operand, meaning);
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
    const auto left = to_polynomial_with_quotients(binary->left, meaning);
    if (!left) return std::nullopt;
    const auto right = to_polynomial_with_quotients(binary->right, meaning);
    return right ? operation(binary->op, *left, *right) : std::nullopt;
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
