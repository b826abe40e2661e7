#include "rewrite/forms/inequalities.h"

#include "source/build.h"
#include "source/walk.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace regraph::rewrite {

using source::Analysis;
using source::as;
using source::Binary;
using source::BinaryOperator;
using source::ExprPtr;
using source::Monomial;
using source::Polynomial;

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

void Inequalities::set_value(const std::string& symbol, std::int64_t value) {
  values_[symbol] = value;
}

Polynomial Inequalities::with_values(Polynomial polynomial) const {
  for (const auto& [symbol, value] : values_)
    polynomial = polynomial.substitute(symbol, Polynomial(value));
  return polynomial;
}

void Inequalities::add(Polynomial not_negative) {
  if (facts_.size() < kMostFacts) facts_.push_back(with_values(std::move(not_negative)));
}

void Inequalities::add_symbol(const std::string& symbol) {
  nonnegative_.insert(symbol);
}

void Inequalities::add_condition(const ExprPtr& condition, const Analysis& analysis) {
  for (const ExprPtr& term : source::conjuncts(condition)) {
    auto slack = slack_of(term, analysis);
    if (!slack) continue;
    conditions_.push_back(term);
    const auto& binary = source::to<Binary>(term);
    const bool is_less =
        binary.op == BinaryOperator::less || binary.op == BinaryOperator::less_equal;
    const ExprPtr& larger = is_less ? binary.right : binary.left;
    // A negative number as an unsigned one is larger than others, and says nothing.
    if (!compares_unsigned(term) || is_known_size(larger, analysis)) add(std::move(*slack));
  }
}

void Inequalities::add_loop(const source::CountedLoop& loop, const Analysis& analysis) {
  const Polynomial counter = Polynomial::symbol(loop.name);
  if (const auto first = analysis.polynomial(loop.first)) {
    if (proves(*first)) add_symbol(loop.name);
    add(counter - *first);
  }
  const source::Variable* variable = analysis.local(loop.name);
  const bool wraps =
      variable == nullptr || is_unsigned(variable->scalar) || is_unsigned(loop.limit->type);
  const auto limit = analysis.polynomial(loop.limit);
  if (limit && (!wraps || is_known_size(loop.limit, analysis)))
    add(*limit - Polynomial(1) - counter);
}

bool Inequalities::is_nonnegative(const std::string& symbol) const {
  return symbol.find('.') != std::string::npos || nonnegative_.contains(symbol);
}

bool Inequalities::proves(const Polynomial& not_negative) const {
  return search(with_values(not_negative), 0);
}

// Takes away a term that could make the sum negative by subtracting a multiple of a fact that holds
// it: what is left has to be proved.
bool Inequalities::search(const Polynomial& wanted, int depth) const {
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

bool Inequalities::is_known_size(const ExprPtr& expr, const Analysis& analysis) const {
  const auto value = analysis.polynomial(expr);
  return value && (is_size(*value, analysis) || proves(*value));
}

bool Inequalities::is_exact(const ExprPtr& comparison, const Analysis& analysis) const {
  if (!compares_unsigned(comparison)) return true;
  const auto& binary = source::to<Binary>(comparison);
  return is_known_size(binary.left, analysis) && is_known_size(binary.right, analysis);
}

bool Inequalities::proves(const ExprPtr& comparison, const Analysis& analysis) const {
  const auto is_same = [&](const ExprPtr& known) { return source::equal(known, comparison); };
  if (std::any_of(conditions_.begin(), conditions_.end(), is_same)) return true;
  const auto slack = slack_of(comparison, analysis);
  return slack && proves(*slack) && is_exact(comparison, analysis);
}

bool Inequalities::refutes(const ExprPtr& comparison, const Analysis& analysis) const {
  const auto slack = slack_of(comparison, analysis);
  return slack && proves(Polynomial(-1) - *slack) && is_exact(comparison, analysis);
}

}  // namespace regraph::rewrite
