#include "infer/index_bounds.h"

#include "infer/analysis_form.h"
#include "source/build.h"
#include "source/lexer.h"
#include "source/walk.h"

#include <fmt/format.h>

#include <algorithm>

namespace regraph::infer {

using source::as;
using source::Binary;
using source::BinaryOperator;
using source::Expr;
using source::ExprPtr;
using source::Polynomial;
using source::Stmt;
using source::VariableReference;

namespace {

constexpr std::array<const char*, 3> kAxes = {"x", "y", "z"};
// Begins the names of quotients; polynomials have quotients of their own, which begin otherwise.
constexpr std::string_view kQuotient = "1*";

// Whether all terms have coefficients of this sign: sizes and indices are not negative, so the
// value has it too.
bool has_sign(const Polynomial& polynomial, bool positive) {
  return std::all_of(polynomial.terms().begin(), polynomial.terms().end(),
                     [&](const auto& term) { return (term.second > 0) == positive; });
}

// i < a and i < b of i < min(a, b); other comparisons as they are.
std::vector<ExprPtr> without_minimum(const ExprPtr& comparison) {
  const auto* binary = as<Binary>(comparison);
  if (binary == nullptr) return {comparison};
  const auto* least = as<source::Call>(binary->right);
  const bool is_upper =
      binary->op == BinaryOperator::less || binary->op == BinaryOperator::less_equal;
  if (!is_upper || least == nullptr || least->function != "min" || least->arguments.size() != 2)
    return {comparison};
  std::vector<ExprPtr> both;
  for (const ExprPtr& bound : least->arguments) {
    const std::vector<ExprPtr> parts =
        without_minimum(source::binary(binary->op, binary->left, bound));
    both.insert(both.end(), parts.begin(), parts.end());
  }
  return both;
}

// a, b and c of a + b + c.
std::vector<ExprPtr> summands(const ExprPtr& sum) {
  const auto* binary = as<Binary>(sum);
  if (binary == nullptr || binary->op != BinaryOperator::add) return {sum};
  std::vector<ExprPtr> terms = summands(binary->left);
  const std::vector<ExprPtr> others = summands(binary->right);
  terms.insert(terms.end(), others.begin(), others.end());
  return terms;
}

}  // namespace

IndexBounds::IndexBounds(const source::Kernel& kernel, const source::Analysis& analysis,
                         const Dim3& block)
    : kernel_(kernel), analysis_(analysis) {
  block_ = {{"blockDim.x", block.x}, {"blockDim.y", block.y}, {"blockDim.z", block.z}};
  source::walk(kernel.body, [&](const Stmt& stmt) {
    const auto* loop = as<source::ForLoop>(stmt);
    const auto* counter = loop != nullptr ? loop->declaration() : nullptr;
    if (counter == nullptr || !counter->value || !loop->condition) return;
    loops_[counter->variable.name] = {counter->value, loop->condition};
  });
}

bool IndexBounds::is_size(const std::string& symbol) const {
  if (loops_.contains(symbol)) return false;
  for (const char* varying : {"threadIdx.", "blockIdx.", "gridDim.", "blockDim."}) {
    if (symbol.starts_with(varying)) return false;
  }
  return true;
}

// Quotients of sizes are symbols with a text that IntegerExpression reads: "1*((n) / (4))".
ExprPtr IndexBounds::with_named_quotients(const ExprPtr& expr) const {
  return source::rewrite_expr(expr, [&](const ExprPtr& one) -> std::optional<ExprPtr> {
    const auto* quotient = as<Binary>(one);
    if (quotient == nullptr || quotient->op != BinaryOperator::divide) return std::nullopt;
    const auto dividend = polynomial(quotient->left);
    const auto divisor = polynomial(quotient->right);
    if (!dividend || !divisor) return std::nullopt;
    const auto is_known = [&](const Polynomial& value) {
      const auto symbols = value.symbols();
      return std::ranges::all_of(symbols,
                                 [&](const std::string& symbol) { return is_size(symbol); }) &&
             has_sign(value, true);
    };
    if (!is_known(*dividend) || !is_known(*divisor) || divisor->is_zero()) return std::nullopt;
    if (dividend->constant() && divisor->constant())
      return source::integer(*dividend->constant() / *divisor->constant());
    return source::variable(fmt::format("{}(({}) / ({}))", kQuotient, expression_text(*dividend),
                                        expression_text(*divisor)));
  });
}

std::optional<Polynomial> IndexBounds::polynomial(const ExprPtr& expr) const {
  const source::SymbolMeaning meaning = analysis_.meaning();
  if (auto plain = to_polynomial(expr, meaning)) return plain;
  return to_polynomial(with_named_quotients(expr), meaning);
}

std::optional<Polynomial> IndexBounds::to_polynomial(const ExprPtr& expr,
                                                     const source::SymbolMeaning& meaning) const {
  return source::to_polynomial(expr, [&](const std::string& name) -> std::optional<Polynomial> {
    if (name.starts_with(kQuotient)) return Polynomial::symbol(name);
    if (const auto extent = block_.find(name); extent != block_.end())
      return Polynomial(extent->second);
    if (loops_.contains(name) || thread_fraction(name)) return Polynomial::symbol(name);
    if (auto known = meaning(name)) {
      known = without_locals(*std::move(known));
      if (!known) return std::nullopt;
      for (const auto& [builtin, extent] : block_)
        known = known->substitute(builtin, Polynomial(extent));
      return known;
    }
    // Locals that are defined once through such loop variables.
    if (const ExprPtr definition = analysis_.definition(name)) return polynomial(definition);
    return std::nullopt;
  });
}

// i / n < m is i < m * n: the quotient's side and the other one without the division. `op` is as if
// the quotient were on the left.
void IndexBounds::multiply_out(const ExprPtr& quotient, BinaryOperator op,
                               std::optional<Polynomial>& of_quotient,
                               std::optional<Polynomial>& other) const {
  if (op != BinaryOperator::less && op != BinaryOperator::less_equal) return;
  ExprPtr expr = quotient;
  constexpr int kMostNames = 4;
  for (int depth = 0; depth < kMostNames && expr; ++depth) {
    while (const auto* cast = as<source::Cast>(expr))
      expr = cast->operand;
    const auto* variable = as<VariableReference>(expr);
    if (variable == nullptr) break;
    expr = analysis_.definition(variable->name);
  }
  const auto* division = as<Binary>(expr);
  if (division == nullptr) return;
  std::optional<Polynomial> divisor;
  if (division->op == BinaryOperator::divide) divisor = polynomial(division->right);
  const auto* bits = as<source::IntegerLiteral>(division->right);
  if (division->op == BinaryOperator::shift_right && bits != nullptr && bits->value >= 0 &&
      bits->value < 32)
    divisor = Polynomial(std::int64_t{1} << bits->value);
  if (!divisor || !has_sign(*divisor, true)) return;
  auto dividend = polynomial(division->left);
  if (op == BinaryOperator::less) {
    other = *other * *divisor;
  } else {
    other = *other * *divisor + *divisor - Polynomial(1);
  }
  if (!dividend) return multiply_out(division->left, op, of_quotient, other);
  of_quotient = std::move(dividend);
}

std::vector<Inequality> IndexBounds::inequalities(const std::vector<ExprPtr>& guards) const {
  std::vector<Inequality> known;
  const auto take = [&](const ExprPtr& condition) {
    std::vector<ExprPtr> comparisons;
    for (const ExprPtr& term : source::conjuncts(condition)) {
      const std::vector<ExprPtr> parts = without_minimum(term);
      comparisons.insert(comparisons.end(), parts.begin(), parts.end());
    }
    for (const ExprPtr& term : comparisons) {
      const auto* comparison = as<Binary>(term);
      if (comparison == nullptr) continue;
      const BinaryOperator op = comparison->op;
      // An ascending loop that ends at `i != n`.
      const auto* counter = as<VariableReference>(comparison->left);
      const bool loop_end =
          op == BinaryOperator::not_equal && counter != nullptr && loops_.contains(counter->name);
      if (!source::is_comparison(op) || (op == BinaryOperator::not_equal && !loop_end)) continue;
      auto left = polynomial(comparison->left);
      auto right = polynomial(comparison->right);
      if (!left && right) multiply_out(comparison->left, op, left, right);
      if (!right && left) multiply_out(comparison->right, source::mirrored(op), right, left);
      if (!left || !right) continue;
      const Polynomial one(1);
      const bool equal = op == BinaryOperator::equal;
      if (op == BinaryOperator::less || loop_end) known.push_back(*right - *left - one);
      if (op == BinaryOperator::less_equal || equal) known.push_back(*right - *left);
      if (op == BinaryOperator::greater) known.push_back(*left - *right - one);
      if (op == BinaryOperator::greater_equal || equal) known.push_back(*left - *right);
    }
  };
  for (const ExprPtr& guard : guards)
    take(guard);
  for (const auto& [name, loop] : loops_)
    take(loop.condition);
  return known;
}

// A name that the kernel gives to a value of sizes is unknown outside of it: its definition stands
// for it.
std::optional<Polynomial> IndexBounds::without_locals(Polynomial value) const {
  for (const std::string& symbol : value.symbols()) {
    if (kernel_.parameter(symbol) != nullptr || loops_.contains(symbol)) continue;
    const ExprPtr definition = analysis_.definition(symbol);
    if (!definition) continue;
    const auto meant = polynomial(definition);
    if (!meant) return std::nullopt;
    value = value.substitute(symbol, *meant);
  }
  return value;
}

std::vector<Inequality> IndexBounds::first_iterations() const {
  std::vector<Inequality> result;
  const std::vector<Inequality> known = inequalities({});
  for (const auto& [name, loop] : loops_) {
    const auto first = polynomial(loop.first);
    if (!first) continue;
    for (const Inequality& inequality : known) {
      if (inequality.mentions(name)) result.push_back(inequality.substitute(name, *first));
    }
  }
  return result;
}

namespace {

// "(images * channels)" as that product, so that it can cancel with what indices are made of; any
// other extent of a grid is a symbol of its own.
Polynomial extent_of(const std::string& text) {
  Polynomial product(1);
  bool is_factor = true;
  std::string inside = text;
  if (inside.starts_with('(') && inside.ends_with(')'))
    inside = inside.substr(1, inside.size() - 2);
  for (const source::Token& token : source::tokenize(inside)) {
    const std::string_view word = token.in(inside);
    const bool is_name = token.kind == source::TokenKind::identifier;
    if (is_factor != is_name || (!is_factor && word != "*")) return Polynomial::symbol(text);
    if (is_factor) product = product * Polynomial::symbol(std::string(word));
    is_factor = !is_factor;
  }
  return is_factor ? Polynomial::symbol(text) : product;
}

}  // namespace

std::optional<Polynomial> IndexBounds::natural_bound(const std::string& symbol, bool upper) const {
  if (const auto loop = loops_.find(symbol); loop != loops_.end()) {
    return upper ? std::nullopt : polynomial(loop->second.first);
  }
  if (!upper) return Polynomial(0);
  if (const auto fraction = thread_fraction(symbol)) {
    const std::int64_t extent = block_.at("blockDim." + fraction->index.substr(10));
    return Polynomial(fraction->is_quotient ? (extent - 1) / fraction->divisor
                                            : std::min(extent, fraction->divisor) - 1);
  }
  for (std::size_t axis = 0; axis < kAxes.size(); ++axis) {
    if (symbol == fmt::format("threadIdx.{}", kAxes[axis])) {
      return Polynomial(block_.at(fmt::format("blockDim.{}", kAxes[axis])) - 1);
    }
    if (grid_[axis].empty()) continue;
    const Polynomial extent = extent_of(grid_[axis]);
    if (symbol == fmt::format("blockIdx.{}", kAxes[axis])) return extent - Polynomial(1);
    if (symbol == fmt::format("gridDim.{}", kAxes[axis])) return extent;
  }
  return std::nullopt;
}

std::vector<Polynomial> IndexBounds::bounds_of(const std::string& symbol, bool upper,
                                               const std::vector<Inequality>& known) const {
  std::vector<Polynomial> bounds;
  for (const Inequality& inequality : known) {
    const auto coefficient = inequality.coefficient(symbol);
    if (!coefficient || coefficient->constant() != (upper ? -1 : 1)) continue;
    const Polynomial rest = inequality.without({symbol});
    bounds.push_back(upper ? rest : Polynomial(0) - rest);
  }
  if (auto natural = natural_bound(symbol, upper)) bounds.push_back(*std::move(natural));
  return bounds;
}

// Replaces one varying symbol after the other by the bound that leaves the fewest of them.
std::optional<Polynomial> IndexBounds::upper_of_polynomial(
    Polynomial value, const std::vector<Inequality>& known) const {
  constexpr int kMostReplacements = 16;
  const auto varying = [&](const Polynomial& polynomial) {
    const auto symbols = polynomial.symbols();
    return std::count_if(symbols.begin(), symbols.end(),
                         [&](const std::string& symbol) { return !is_size(symbol); });
  };
  for (int round = 0; varying(value) > 0; ++round) {
    if (round == kMostReplacements) return std::nullopt;
    std::optional<Polynomial> best;
    for (const std::string& symbol : value.symbols()) {
      if (is_size(symbol)) continue;
      const auto coefficient = value.coefficient(symbol);
      if (!coefficient) continue;
      for (const bool upper : {true, false}) {
        if (!has_sign(*coefficient, upper)) continue;
        for (const Polynomial& bound : bounds_of(symbol, upper, known)) {
          if (bound.mentions(symbol)) continue;
          const Polynomial candidate = value.substitute(symbol, bound);
          if (!best || varying(candidate) < varying(*best)) best = candidate;
        }
      }
      // 4 * i + k, where n - 4 - 4 * i is not negative, is n - 4 + k at most.
      for (const Inequality& inequality : known) {
        const auto of_known = inequality.coefficient(symbol);
        if (!of_known || !of_known->constant() || !coefficient->constant()) continue;
        const std::int64_t divisor = -*of_known->constant();
        if (divisor == 0 || *coefficient->constant() % divisor != 0) continue;
        const std::int64_t times = *coefficient->constant() / divisor;
        if (times <= 0) continue;
        const Polynomial candidate = value + Polynomial(times) * inequality;
        if (!best || varying(candidate) < varying(*best)) best = candidate;
      }
    }
    if (!best) return std::nullopt;
    value = *std::move(best);
  }
  return value;
}

std::optional<Polynomial> IndexBounds::upper(const ExprPtr& index,
                                             const std::vector<ExprPtr>& guards) const {
  if (const auto value = polynomial(index))
    return upper_of_polynomial(*value, inequalities(guards));
  return upper_of_operation(*index, guards);
}

bool IndexBounds::follows_memory(const ExprPtr& expr, int depth) const {
  constexpr int kMostNames = 8;
  if (depth > kMostNames || analysis_.reads_memory(expr)) return true;
  const auto names = source::variables_of(expr);
  return std::ranges::any_of(names, [&](const std::string& name) {
    if (kernel_.parameter(name) != nullptr || loops_.contains(name)) return false;
    const ExprPtr definition = analysis_.definition(name);
    return definition && follows_memory(definition, depth + 1);
  });
}

// The product of sizes that the term multiplies something with, and that: (i * H) * W is H * W
// times i, also where locals stand for parts of it.
IndexBounds::Scaled IndexBounds::scaled(ExprPtr term) const {
  constexpr int kMostParts = 16;
  Polynomial factor(1);
  for (int part = 0; part < kMostParts; ++part) {
    if (const auto* cast = as<source::Cast>(term)) {
      term = cast->operand;
      continue;
    }
    const auto* name = as<VariableReference>(term);
    const ExprPtr definition = name != nullptr ? analysis_.definition(name->name) : nullptr;
    const auto* product = as<Binary>(definition ? definition : term);
    if (product == nullptr || product->op != BinaryOperator::multiply) break;
    const auto right = size_product(product->right);
    const auto left = right ? std::nullopt : size_product(product->left);
    if (!right && !left) break;
    factor = factor * (right ? *right : *left);
    term = right ? product->left : product->right;
  }
  return {factor, term};
}

// A positive polynomial of sizes.
std::optional<Polynomial> IndexBounds::size_product(const ExprPtr& expr) const {
  auto size = polynomial(expr);
  if (!size || !has_sign(*size, true) || size->is_zero()) return std::nullopt;
  const auto symbols = size->symbols();
  const bool known =
      std::ranges::all_of(symbols, [&](const auto& symbol) { return is_size(symbol); });
  return known ? std::move(size) : std::nullopt;
}

std::optional<Polynomial> IndexBounds::row_major_upper(const ExprPtr& index,
                                                       const std::vector<ExprPtr>& guards) const {
  if (auto known = upper(index, guards)) return known;
  if (follows_memory(index)) return std::nullopt;
  if (const auto* cast = as<source::Cast>(index)) return row_major_upper(cast->operand, guards);
  if (const auto* variable = as<VariableReference>(index)) {
    const ExprPtr definition = analysis_.definition(variable->name);
    return definition ? row_major_upper(definition, guards) : std::nullopt;
  }
  std::vector<Scaled> terms;
  for (const ExprPtr& term : summands(index))
    terms.push_back(scaled(term));
  if (terms.size() < 2) return std::nullopt;
  // The outermost dimension's stride is a multiple of all others.
  for (const Scaled& outer : terms) {
    if (outer.factor.constant()) continue;
    const bool is_outermost = std::ranges::all_of(terms, [&](const Scaled& inner) {
      return source::exact_quotient(outer.factor, inner.factor).has_value();
    });
    const auto rows = is_outermost ? row_major_upper(outer.rest, guards) : std::nullopt;
    if (rows) return (*rows + Polynomial(1)) * outer.factor - Polynomial(1);
  }
  return std::nullopt;
}

std::optional<Polynomial> IndexBounds::upper_of_operation(
    const Expr& expr, const std::vector<ExprPtr>& guards) const {
  if (const auto* cast = as<source::Cast>(expr)) return upper(cast->operand, guards);
  if (const auto* variable = as<VariableReference>(expr)) {
    if (auto guarded = upper_of_name(variable->name, guards)) return guarded;
    const ExprPtr definition = analysis_.definition(variable->name);
    return definition ? upper(definition, guards) : std::nullopt;
  }
  if (const auto* choice = as<source::Conditional>(expr)) {
    auto then = upper(choice->then, guards);
    auto otherwise = upper(choice->otherwise, guards);
    if (!then || !otherwise) return std::nullopt;
    if (*then == *otherwise || has_sign(*then - *otherwise, true)) return then;
    return has_sign(*otherwise - *then, true) ? otherwise : std::nullopt;
  }
  if (const auto* call = as<source::Call>(expr)) {
    if (call->function != "min" || call->arguments.size() != 2) return std::nullopt;
    const auto first = upper(call->arguments[1], guards);
    return first ? first : upper(call->arguments[0], guards);
  }
  const auto* binary = as<Binary>(expr);
  return binary != nullptr ? upper_of_binary(*binary, guards) : std::nullopt;
}

// What a guard says of a local by its name: row < rows, where row is i / columns.
std::optional<Polynomial> IndexBounds::upper_of_name(const std::string& name,
                                                     const std::vector<ExprPtr>& guards) const {
  if (!analysis_.is_single_definition(name)) return std::nullopt;
  for (const ExprPtr& guard : guards) {
    for (const ExprPtr& term : source::conjuncts(guard)) {
      const auto* comparison = as<Binary>(term);
      if (comparison == nullptr) continue;
      // (unsigned)row < (unsigned)rows bounds row, too.
      const Expr* compared = comparison->left.get();
      while (const auto* cast = as<source::Cast>(compared)) {
        const bool keeps = cast->operand->type && compared->type &&
                           size_in_bytes(*compared->type) >= size_in_bytes(*cast->operand->type);
        if (!keeps) break;
        compared = cast->operand.get();
      }
      const auto* left = as<VariableReference>(compared);
      if (left == nullptr || left->name != name) continue;
      const bool less = comparison->op == BinaryOperator::less;
      if (!less && comparison->op != BinaryOperator::less_equal) continue;
      const auto right = polynomial(comparison->right);
      if (!right) continue;
      const auto symbols = right->symbols();
      if (std::ranges::all_of(symbols, [&](const auto& symbol) { return is_size(symbol); }))
        return less ? *right - Polynomial(1) : *right;
    }
  }
  return std::nullopt;
}

std::optional<Polynomial> IndexBounds::upper_of_binary(const Binary& expr,
                                                       const std::vector<ExprPtr>& guards) const {
  if (expr.op == BinaryOperator::remainder) {
    const auto divisor = upper(expr.right, guards);
    return divisor ? std::optional(*divisor - Polynomial(1)) : std::nullopt;
  }
  const auto* mask = as<source::IntegerLiteral>(expr.right);
  if (expr.op == BinaryOperator::bit_and && mask != nullptr) return Polynomial(mask->value);
  const auto left = upper(expr.left, guards);
  const auto right = upper(expr.right, guards);
  if (!left || !right) return std::nullopt;
  if (expr.op == BinaryOperator::add) return *left + *right;
  if (expr.op == BinaryOperator::multiply) return *left * *right;
  // Digits of a number below N * C * W: (N * C * W - 1) / W is N * C - 1.
  const auto divisor = expr.op == BinaryOperator::divide ? polynomial(expr.right) : std::nullopt;
  if (divisor && !divisor->is_zero() && has_sign(*divisor, true)) {
    if (auto parts = source::exact_quotient(*left + Polynomial(1), *divisor))
      return *parts - Polynomial(1);
  }
  const bool shift = expr.op == BinaryOperator::shift_right && right->constant().value_or(64) < 32;
  if (expr.op == BinaryOperator::divide || shift) {
    const std::string divisor_text =
        shift ? std::to_string(std::int64_t{1} << *right->constant()) : expression_text(*right);
    return Polynomial::symbol(fmt::format("(({}) / ({}))", expression_text(*left), divisor_text));
  }
  return std::nullopt;
}

std::string expression_text(const Polynomial& polynomial) {
  std::string text;
  for (const bool positive : {true, false}) {
    for (const auto& [monomial, coefficient] : polynomial.terms()) {
      if ((coefficient > 0) != positive) continue;
      const std::int64_t size = positive ? coefficient : -coefficient;
      std::string term;
      if (size != 1 || monomial.empty()) term = std::to_string(size);
      for (const std::string& symbol : monomial)
        term += (term.empty() ? "" : " * ") + symbol;
      if (positive) {
        text += (text.empty() ? "" : " + ") + term;
      } else {
        text += (text.empty() ? "0 - " : " - ") + term;
      }
    }
  }
  return text.empty() ? "0" : text;
}

}  // namespace regraph::infer
