#include "affine/constraints.h"

#include "affine/index_range.h"
#include "source/build.h"
#include "source/walk.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace regraph::affine {

namespace {

// Facts that one proof may use: more than guards of people take.
constexpr int kDeepest = 6;
constexpr std::size_t kMostFacts = 24;

// dividend / divisor as products of symbols; nothing where a symbol is missing.
std::optional<Monomial> divided(const Monomial& dividend, const Monomial& divisor) {
  Monomial rest;
  std::set_difference(dividend.begin(), dividend.end(), divisor.begin(), divisor.end(),
                      std::back_inserter(rest));
  if (rest.size() + divisor.size() != dividend.size()) return std::nullopt;
  return rest;
}

Polynomial product(const Monomial& monomial, std::int64_t factor) {
  Polynomial result(factor);
  for (const std::string& name : monomial)
    result = result * Polynomial::symbol(name);
  return result;
}

bool is_unsigned(const std::optional<ScalarType>& type) {
  return !type || *type == ScalarType::u32 || *type == ScalarType::u64;
}

// A product of parameters: a number of things.
bool is_size(const Polynomial& polynomial, const Analysis& analysis) {
  if (polynomial.terms().size() != 1) return false;
  const auto& [monomial, factor] = *polynomial.terms().begin();
  return factor > 0 && std::all_of(monomial.begin(), monomial.end(), [&](const std::string& name) {
           return name.find('.') != std::string::npos || analysis.local(name) == nullptr;
         });
}

}  // namespace

std::optional<Polynomial> slack_of(const ExprPtr& comparison, const Analysis& analysis) {
  return slack_of(comparison, [&](const ExprPtr& side) { return analysis.polynomial(side); });
}

bool compares_unsigned(const ExprPtr& comparison) {
  const auto* binary = as<Binary>(comparison);
  return binary == nullptr || is_unsigned(binary->left->type) || is_unsigned(binary->right->type);
}

std::optional<Polynomial> slack_of(const ExprPtr& comparison,
                                   const PolynomialReader& polynomial_of) {
  const auto* binary = as<Binary>(comparison);
  if (binary == nullptr) return std::nullopt;
  const bool is_less =
      binary->op == BinaryOperator::less || binary->op == BinaryOperator::less_equal;
  const bool is_greater =
      binary->op == BinaryOperator::greater || binary->op == BinaryOperator::greater_equal;
  if (!is_less && !is_greater) return std::nullopt;
  const auto left = polynomial_of(binary->left);
  const auto right = left ? polynomial_of(binary->right) : std::nullopt;
  if (!right) return std::nullopt;
  const bool is_strict =
      binary->op == BinaryOperator::less || binary->op == BinaryOperator::greater;
  return (is_less ? *right - *left : *left - *right) - Polynomial(is_strict ? 1 : 0);
}

void Constraints::set_value(const std::string& symbol, std::int64_t value) {
  values_[symbol] = value;
}

Polynomial Constraints::with_values(Polynomial polynomial) const {
  for (const auto& [symbol, value] : values_)
    polynomial = polynomial.substitute(symbol, Polynomial(value));
  return polynomial;
}

void Constraints::add(Polynomial not_negative) {
  if (facts_.size() < kMostFacts) facts_.push_back(with_values(std::move(not_negative)));
}

void Constraints::add_symbol(const std::string& symbol) {
  nonnegative_.insert(symbol);
}

void Constraints::add_condition(const ExprPtr& condition, const Analysis& analysis) {
  for (const ExprPtr& term : conjuncts(condition)) {
    auto slack = slack_of(term, analysis);
    if (!slack) continue;
    conditions_.push_back(term);
    const auto& binary = to<Binary>(term);
    const bool is_less =
        binary.op == BinaryOperator::less || binary.op == BinaryOperator::less_equal;
    const ExprPtr& larger = is_less ? binary.right : binary.left;
    // A negative number as an unsigned one is larger than others, and says nothing.
    if (!compares_unsigned(term) || is_known_size(larger, analysis)) add(std::move(*slack));
  }
}

void Constraints::add_loop(const CountedLoop& loop, const Analysis& analysis) {
  const Polynomial counter = Polynomial::symbol(loop.name);
  if (const auto first = analysis.polynomial(loop.first)) {
    if (proves(*first)) add_symbol(loop.name);
    add(counter - *first);
  }
  const Variable* variable = analysis.local(loop.name);
  const bool wraps =
      variable == nullptr || is_unsigned(variable->scalar) || is_unsigned(loop.limit->type);
  const auto limit = analysis.polynomial(loop.limit);
  if (limit && (!wraps || is_known_size(loop.limit, analysis)))
    add(*limit - Polynomial(1) - counter);
}

void Constraints::add_range(const std::string& symbol, Polynomial low, Polynomial high) {
  const auto found = ranges_.find(symbol);
  if (found == ranges_.end()) {
    ranges_.emplace(symbol, Range{std::move(low), std::move(high)});
  } else if (!(found->second.low == low && found->second.high == high)) {
    found->second.is_known = false;
  }
}

void Constraints::add_unknown_range(const std::string& symbol) {
  ranges_[symbol].is_known = false;
}

std::optional<int> Constraints::sign_of(const Polynomial& value) const {
  if (const auto number = value.constant()) return *number < 0 ? -1 : 1;
  if (proves(value)) return 1;
  if (proves(Polynomial() - value)) return -1;
  return std::nullopt;
}

std::optional<Polynomial> Constraints::extreme(Polynomial value, bool largest) const {
  // Each symbol once, but for those that ends of others bring back.
  const std::size_t most_rounds = 2 * ranges_.size() + 1;
  for (std::size_t round = 0; round <= most_rounds; ++round) {
    const std::set<std::string> symbols = value.symbols();
    const auto is_outer = [&](const std::string& symbol) {
      return std::any_of(symbols.begin(), symbols.end(), [&](const std::string& other) {
        const auto range = ranges_.find(other);
        return other != symbol && range != ranges_.end() &&
               (range->second.low.mentions(symbol) || range->second.high.mentions(symbol));
      });
    };
    // Inner loops first: their ends may be made of outer counters.
    const std::string* next = nullptr;
    for (const std::string& symbol : symbols) {
      if (!ranges_.contains(symbol) || (next != nullptr && is_outer(symbol))) continue;
      if (next == nullptr || is_outer(*next)) next = &symbol;
    }
    if (next == nullptr) return value;
    const auto slope = value.coefficient(*next);
    const auto sign = slope ? sign_of(*slope) : std::nullopt;
    const Range& range = ranges_.at(*next);
    if (!sign || !range.is_known) return std::nullopt;
    value = value.substitute(*next, (*sign > 0) == largest ? range.high : range.low);
  }
  return std::nullopt;
}

bool Constraints::is_nonnegative(const std::string& symbol) const {
  return symbol.find('.') != std::string::npos || nonnegative_.contains(symbol);
}

bool Constraints::proves(const Polynomial& not_negative) const {
  return search(with_values(not_negative), 0);
}

// Takes away a term that could make the sum negative by subtracting a multiple of a fact that holds
// it: what is left has to be proved.
bool Constraints::search(const Polynomial& wanted, int depth) const {
  const std::pair<const Monomial, std::int64_t>* open = nullptr;
  for (const auto& term : wanted.terms()) {
    const bool is_known =
        std::all_of(term.first.begin(), term.first.end(),
                    [&](const std::string& name) { return is_nonnegative(name); });
    if (term.second > 0 && is_known) continue;
    if (open == nullptr || term.first.size() > open->first.size()) open = &term;
  }
  if (open == nullptr) return true;
  if (depth == kDeepest) return false;
  for (const Polynomial& fact : facts_) {
    for (const auto& [monomial, factor] : fact.terms()) {
      const bool cancels = (factor < 0) == (open->second < 0) && open->second % factor == 0;
      const auto rest = cancels ? divided(open->first, monomial) : std::nullopt;
      if (!rest || !std::all_of(rest->begin(), rest->end(),
                                [&](const std::string& name) { return is_nonnegative(name); })) {
        continue;
      }
      if (search(wanted - fact * product(*rest, open->second / factor), depth + 1)) return true;
    }
  }
  return false;
}

bool Constraints::is_known_size(const ExprPtr& expr, const Analysis& analysis) const {
  const auto value = analysis.polynomial(expr);
  return value && (is_size(*value, analysis) || proves(*value));
}

bool Constraints::is_exact(const ExprPtr& comparison, const Analysis& analysis) const {
  if (!compares_unsigned(comparison)) return true;
  const auto& binary = to<Binary>(comparison);
  return is_known_size(binary.left, analysis) && is_known_size(binary.right, analysis);
}

bool Constraints::proves(const ExprPtr& comparison, const Analysis& analysis) const {
  const auto is_same = [&](const ExprPtr& known) { return equal(known, comparison); };
  if (std::any_of(conditions_.begin(), conditions_.end(), is_same)) return true;
  const auto slack = slack_of(comparison, analysis);
  if (slack && proves(*slack) && is_exact(comparison, analysis)) return true;
  return is_remainder_below(comparison, analysis);
}

// i % n < n, of numbers of things n.
bool Constraints::is_remainder_below(const ExprPtr& comparison, const Analysis& analysis) const {
  const auto* binary = as<Binary>(comparison);
  if (binary == nullptr || binary->op != BinaryOperator::less) return false;
  ExprPtr value = binary->left;
  while (const auto* variable = as<VariableReference>(value)) {
    if (!is_index_type(value->type)) return false;
    value = analysis.definition(variable->name);
  }
  const auto* remainder = as<Binary>(value);
  if (remainder == nullptr || remainder->op != BinaryOperator::remainder ||
      !is_index_type(remainder->type) || !is_known_size(remainder->right, analysis)) {
    return false;
  }
  const auto divisor = analysis.polynomial(remainder->right);
  return divisor && analysis.polynomial(binary->right) == divisor;
}

bool Constraints::refutes(const ExprPtr& comparison, const Analysis& analysis) const {
  const auto slack = slack_of(comparison, analysis);
  return slack && proves(Polynomial(-1) - *slack) && is_exact(comparison, analysis);
}

}  // namespace regraph::affine
