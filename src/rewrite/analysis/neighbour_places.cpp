#include "rewrite/analysis/neighbour_places.h"

#include "affine/index_range.h"
#include "source/build.h"
#include "source/printer.h"
#include "source/walk.h"

#include <algorithm>

namespace regraph::rewrite {

namespace {

// Starts the names of what is no polynomial.
constexpr char kSymbolMark = '#';
constexpr const char* kUnknown = "#";

// Whether bits may be lost, which polynomials do not see.
bool is_narrowing(const Expr& expr) {
  return is<Cast>(expr) && expr.type && size_in_bytes(*expr.type) < sizeof(int);
}

// Integers that a polynomial does not follow.
bool is_beyond_polynomials(const Expr& expr) {
  if (is_narrowing(expr)) return true;
  if (!is_index_type(expr.type)) return false;
  if (const auto* binary = as<Binary>(expr)) {
    return binary->op != BinaryOperator::add && binary->op != BinaryOperator::subtract &&
           binary->op != BinaryOperator::multiply && binary->op != BinaryOperator::shift_left;
  }
  return is<Conditional>(expr) || is<Call>(expr);
}

bool needs_division(std::int64_t factor, int width) {
  return factor % width != 0;
}

}  // namespace

std::optional<NeighbourPlace> NeighbourPlaces::place_of(const Subscript& access) {
  const auto* base = as<VariableReference>(access.base);
  if (base == nullptr || !analysis_.is_global_pointer(base->name)) return std::nullopt;
  const auto index = polynomial(access.index);
  if (!index) return std::nullopt;
  NeighbourPlace result{base->name, *index, 0};
  const auto constant = index->terms().find({});
  if (constant != index->terms().end()) result.offset = constant->second;
  result.rest = *index - Polynomial(result.offset);
  return result;
}

std::optional<Polynomial> NeighbourPlaces::polynomial(const ExprPtr& expr) {
  return to_polynomial(with_symbols(expr),
                       [this](const std::string& name) { return meaning(name); });
}

std::optional<Polynomial> NeighbourPlaces::meaning(const std::string& name) {
  if (name == kUnknown) return std::nullopt;
  if (name.front() == kSymbolMark) return Polynomial::symbol(name);
  const ExprPtr definition = analysis_.definition(name);
  if (!definition) return analysis_.meaning()(name);
  const auto known = meanings_.find(name);
  if (known != meanings_.end()) return known->second;
  std::optional<Polynomial> result;
  if (is_index_type(analysis_.local(name)->scalar)) {
    if (is_index_type(definition->type)) result = polynomial(definition);
    if (!result) result = Polynomial::symbol(name);
  }
  return meanings_[name] = result;
}

// Names what is no polynomial by its own text, with names written out, so that equal text is one
// symbol.
ExprPtr NeighbourPlaces::with_symbols(const ExprPtr& expr) {
  return rewrite_expr(expr, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
    if (!is_beyond_polynomials(*node)) return std::nullopt;
    const auto spelt = spelt_out(node);
    if (!spelt) return source::variable(kUnknown, node->type);
    const std::string symbol = kSymbolMark + print(*spelt);
    const bool is_size = all_expressions(*spelt, [&](const Expr& part) {
      const auto* variable = as<VariableReference>(part);
      const bool is_local = variable != nullptr && kernel_.parameter(variable->name) == nullptr;
      return !is_local && !is<Builtin>(part);
    });
    if (is_size) sizes_.emplace(symbol, *spelt);
    return source::variable(symbol, node->type);
  });
}

// Nothing where the value may change from one use to the next.
std::optional<ExprPtr> NeighbourPlaces::spelt_out(const ExprPtr& expr) const {
  bool is_steady = !analysis_.reads_memory(expr);
  walk(expr, [&](const Expr& part) { is_steady = is_steady && !is<Subscript>(part); });
  if (!is_steady) return std::nullopt;
  ExprPtr result = rewrite_expr(expr, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
    const auto* variable = as<VariableReference>(node);
    if (variable == nullptr) return std::nullopt;
    const ExprPtr definition = analysis_.definition(variable->name);
    const Variable* local = analysis_.local(variable->name);
    // A name whose type is not its value's may hold another number.
    if (definition && local != nullptr && local->scalar == definition->type) {
      if (const auto spelt = spelt_out(definition)) return *spelt;
    }
    is_steady = is_steady && (definition || analysis_.meaning()(variable->name));
    return node;
  });
  return is_steady ? std::optional(result) : std::nullopt;
}

ExprPtr NeighbourPlaces::size_of(const std::string& symbol) const {
  if (const auto* parameter = kernel_.parameter(symbol))
    return source::variable(symbol, parameter->scalar);
  const auto size = sizes_.find(symbol);
  return size != sizes_.end() ? size->second : nullptr;
}

bool NeighbourPlaces::can_divide(const Polynomial& rest, int width) const {
  return std::all_of(rest.terms().begin(), rest.terms().end(), [&](const auto& term) {
    const auto& [monomial, factor] = term;
    return !needs_division(factor, width) ||
           std::any_of(monomial.begin(), monomial.end(),
                       [&](const std::string& symbol) { return size_of(symbol) != nullptr; });
  });
}

// Few conditions: the size that is a factor of most terms comes first.
std::vector<ExprPtr> NeighbourPlaces::conditions(const std::vector<Polynomial>& all,
                                                 int width) const {
  std::set<Monomial> open;
  for (const Polynomial& one : all) {
    for (const auto& [monomial, factor] : one.terms()) {
      if (needs_division(factor, width)) open.insert(monomial);
    }
  }
  std::vector<ExprPtr> result;
  while (!open.empty()) {
    std::map<std::string, int> terms;
    for (const Monomial& monomial : open) {
      for (const std::string& symbol : std::set<std::string>(monomial.begin(), monomial.end()))
        if (size_of(symbol)) ++terms[symbol];
    }
    if (terms.empty()) break;
    const std::string best =
        std::max_element(terms.begin(), terms.end(), [](const auto& a, const auto& b) {
          return a.second < b.second;
        })->first;
    result.push_back(equals(remainder(size_of(best), integer(width)), integer(0)));
    std::erase_if(open, [&](const Monomial& monomial) {
      return std::find(monomial.begin(), monomial.end(), best) != monomial.end();
    });
  }
  return result;
}

}  // namespace regraph::rewrite
