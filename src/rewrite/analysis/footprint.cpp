#include "rewrite/analysis/footprint.h"

#include "rewrite/forms/kernel_state.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace regraph::rewrite {

using source::Monomial;
using source::Polynomial;

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
std::vector<FootprintDimension> split(std::vector<LocalTerm> terms, const Monomial& monomial,
                                      const std::string& apart) {
  std::sort(terms.begin(), terms.end(),
            [](const LocalTerm& a, const LocalTerm& b) { return a.factor < b.factor; });
  std::vector<FootprintDimension> result;
  std::size_t first = 0;
  while (first < terms.size()) {
    std::int64_t span = 1;  // one past the largest offset reached, in units of the first factor
    const std::int64_t unit = terms[first].factor;
    std::size_t last = first;
    FootprintDimension dimension;
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

}  // namespace

Polynomial FootprintDimension::coordinate() const {
  Polynomial result;
  for (const auto& [symbol, factor] : terms) {
    result = result + Polynomial(factor) * Polynomial::symbol(symbol);
  }
  return result;
}

std::int64_t Footprint::elements() const {
  return std::accumulate(dimensions.begin(), dimensions.end(), std::int64_t{1},
                         [](std::int64_t product, const FootprintDimension& dimension) {
                           return product * dimension.extent;
                         });
}

const FootprintDimension* Footprint::dimension_of(const std::string& symbol) const {
  for (const FootprintDimension& dimension : dimensions) {
    if (dimension.terms.contains(symbol)) return &dimension;
  }
  return nullptr;
}

Result<Footprint> footprint_of(const Polynomial& index, const LocalSymbols& locals,
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
      if (locals.contains(name))
        return refuse(
            std::string("the index multiplies ").append(symbol).append(" by ").append(name));
    }
    if (factor <= 0) return refuse("the index falls as " + symbol + " rises");
    by_stride[monomial].push_back({symbol, factor, count});
  }
  Footprint result;
  result.base = index.without(local_names);
  for (const auto& [monomial, terms] : by_stride) {
    for (FootprintDimension& dimension : split(terms, monomial, apart)) {
      result.dimensions.push_back(std::move(dimension));
    }
  }
  // Symbolic strides are rows, so they come before constant ones; longer products before shorter.
  std::sort(result.dimensions.begin(), result.dimensions.end(),
            [](const FootprintDimension& a, const FootprintDimension& b) {
              const auto& [left, left_factor] = *a.stride.terms().begin();
              const auto& [right, right_factor] = *b.stride.terms().begin();
              if (left.size() != right.size()) return left.size() > right.size();
              if (left != right) return left < right;
              return left_factor > right_factor;
            });
  return result;
}

}  // namespace regraph::rewrite
