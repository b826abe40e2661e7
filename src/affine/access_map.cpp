#include "affine/access_map.h"

#include "affine/refusal.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace regraph::affine {

namespace {

struct LocalTerm {
  std::string symbol;
  std::int64_t factor;
  std::int64_t count;
};

Polynomial monomial_polynomial(const Monomial& monomial) {
  Polynomial result(1);
  for (const std::string& name : monomial)
    result = result * Polynomial::symbol(name);
  return result;
}

// Splits the terms that share a symbolic stride into dimensions: a term whose factor is larger than
// everything below it can reach starts a new one (rows of a constant pitch).
std::vector<AccessDimension> split(std::vector<LocalTerm> terms, const Monomial& monomial,
                                   const std::string& apart) {
  std::sort(terms.begin(), terms.end(),
            [](const LocalTerm& a, const LocalTerm& b) { return a.factor < b.factor; });
  std::vector<AccessDimension> result;
  std::size_t first = 0;
  while (first < terms.size()) {
    std::int64_t span = 1;  // one past the largest offset reached, in units of the first factor
    const std::int64_t unit = terms[first].factor;
    std::size_t last = first;
    AccessDimension dimension;
    while (last < terms.size() && terms[last].factor % unit == 0 &&
           terms[last].factor / unit <= span) {
      if (last > first && terms[last].symbol == apart && terms[last].factor / unit == span) break;
      const std::int64_t step = terms[last].factor / unit;
      dimension.terms[terms[last].symbol] = step;
      span += step * (terms[last].count - 1);
      ++last;
    }
    dimension.stride = monomial_polynomial(monomial) * Polynomial(unit);
    dimension.extent = span;
    result.push_back(std::move(dimension));
    first = last;
  }
  return result;
}

// Which axis of the block the symbol is along; 0 for counters.
char axis_of(const std::string& symbol) {
  return symbol.starts_with("threadIdx.") ? symbol.back() : '\0';
}

// The dimension cut at digits, lowest first; itself where they overlap.
std::vector<AccessDimension> cut(const AccessDimension& dimension, const std::string& variable,
                                 const LocalSymbols& locals) {
  std::vector<LocalTerm> terms;
  for (const auto& [symbol, factor] : dimension.terms)
    terms.push_back({symbol, factor, locals.at(symbol)});
  std::sort(terms.begin(), terms.end(),
            [](const LocalTerm& a, const LocalTerm& b) { return a.factor < b.factor; });
  std::vector<AccessDimension> result;
  std::int64_t unit = 1;
  std::int64_t span = 1;  // one past the largest coordinate so far, in units of the whole
  char axis = '\0';
  for (const LocalTerm& term : terms) {
    const char along = axis_of(term.symbol);
    const bool follows_variable = !result.empty() && result.back().terms.contains(variable);
    const bool is_wall = term.symbol == variable || follows_variable ||
                         (along != '\0' && axis != '\0' && along != axis);
    if (!result.empty() && (is_wall ? term.factor != span : term.factor % unit != 0))
      return {dimension};
    if (result.empty() || is_wall) {
      unit = term.factor;
      axis = '\0';
      result.push_back({dimension.stride * Polynomial(unit), {}, 1, 0});
    }
    AccessDimension& last = result.back();
    last.terms[term.symbol] = term.factor / unit;
    last.extent += term.factor / unit * (term.count - 1);
    span += term.factor * (term.count - 1);
    if (along != '\0') axis = along;
  }
  return result;
}

}  // namespace

AccessMap with_digits_apart(const AccessMap& footprint, const std::string& variable,
                            const LocalSymbols& locals) {
  AccessMap result;
  result.base = footprint.base;
  for (const AccessDimension& dimension : footprint.dimensions) {
    std::vector<AccessDimension> parts = cut(dimension, variable, locals);
    result.dimensions.insert(result.dimensions.end(), parts.rbegin(), parts.rend());
  }
  return result;
}

Polynomial AccessDimension::coordinate() const {
  Polynomial result;
  for (const auto& [symbol, factor] : terms) {
    result = result + Polynomial(factor) * Polynomial::symbol(symbol);
  }
  return result;
}

std::int64_t AccessMap::elements() const {
  return std::accumulate(dimensions.begin(), dimensions.end(), std::int64_t{1},
                         [](std::int64_t product, const AccessDimension& dimension) {
                           return product * dimension.extent;
                         });
}

const AccessDimension* AccessMap::dimension_of(const std::string& symbol) const {
  for (const AccessDimension& dimension : dimensions) {
    if (dimension.terms.contains(symbol)) return &dimension;
  }
  return nullptr;
}

Result<AccessMap> access_map_of(const Polynomial& index, const LocalSymbols& locals,
                                const std::string& apart) {
  std::map<Monomial, std::vector<LocalTerm>> by_stride;
  std::set<std::string> local_names;
  for (const auto& [symbol, count] : locals) {
    local_names.insert(symbol);
    const auto coefficient = index.coefficient(symbol);
    if (!coefficient) return refuse("the index is not linear in " + symbol);
    if (coefficient->is_zero()) continue;
    if (coefficient->terms().size() != 1) {
      return refuse("the stride of " + symbol +
                    " is a sum, which the footprint analysis cannot order");
    }
    const auto& [monomial, factor] = *coefficient->terms().begin();
    for (const std::string& name : monomial) {
      if (!locals.contains(name)) continue;
      std::string reason = "the index multiplies ";
      reason += symbol;
      reason += " by ";
      reason += name;
      return refuse(std::move(reason));
    }
    if (factor <= 0) return refuse("the index falls as " + symbol + " rises");
    by_stride[monomial].push_back({symbol, factor, count});
  }
  AccessMap result;
  result.base = index.without(local_names);
  for (const auto& [monomial, terms] : by_stride) {
    for (AccessDimension& dimension : split(terms, monomial, apart)) {
      result.dimensions.push_back(std::move(dimension));
    }
  }
  // Symbolic strides are rows, so they come before constant ones; longer products before shorter.
  std::sort(result.dimensions.begin(), result.dimensions.end(),
            [](const AccessDimension& a, const AccessDimension& b) {
              const auto& [left, left_factor] = *a.stride.terms().begin();
              const auto& [right, right_factor] = *b.stride.terms().begin();
              if (left.size() != right.size()) return left.size() > right.size();
              if (left != right) return left < right;
              return left_factor > right_factor;
            });
  return result;
}

}  // namespace regraph::affine
