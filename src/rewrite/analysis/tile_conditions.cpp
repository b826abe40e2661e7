#include "rewrite/analysis/tile_conditions.h"

#include "rewrite/analysis/tile_uses.h"
#include "rewrite/forms/inequalities.h"
#include "rewrite/forms/kernel_state.h"
#include "source/build.h"

#include <algorithm>
#include <optional>
#include <set>

namespace regraph::rewrite {

using source::ExprPtr;
using source::Polynomial;

namespace {

// Replaces local symbols by the copy's coordinates. Nothing: the polynomial mixes what the
// array's dimensions cover and what they do not, or is no function of the coordinates.
std::optional<Polynomial> over_coordinates(const Polynomial& polynomial, const TileStrip& strip,
                                           const StagedArray& array) {
  std::set<std::string> names;
  for (const auto& [name, count] : strip.locals)
    names.insert(name);
  Polynomial result = polynomial.without(names);
  for (std::size_t d = 0; d < array.footprint.dimensions.size(); ++d) {
    const FootprintDimension& dimension = array.footprint.dimensions[d];
    std::optional<Polynomial> scale;
    for (const auto& [symbol, factor] : dimension.terms) {
      const auto coefficient = polynomial.coefficient(symbol);
      if (!coefficient) return std::nullopt;
      if (factor == 1) scale = *coefficient;
    }
    if (!scale) return std::nullopt;
    for (const auto& [symbol, factor] : dimension.terms) {
      if (!(*polynomial.coefficient(symbol) == *scale * Polynomial(factor))) return std::nullopt;
    }
    result = result + *scale * Polynomial::symbol(array.coordinates[d]);
    // The contraction variable is the strip's first iteration plus the coordinate.
    if (dimension.terms.contains(strip.contraction))
      result = result + *scale * Polynomial::symbol(strip.outer);
  }
  for (const std::string& symbol : polynomial.symbols()) {
    if (strip.locals.contains(symbol) && array.footprint.dimension_of(symbol) == nullptr)
      return std::nullopt;
  }
  return result;
}

// Whether a difference of what the copy's coordinates stand for may come out below zero.
bool may_wrap(const Polynomial& side, const TileStrip& strip) {
  const auto symbols = side.symbols();
  return std::any_of(symbols.begin(), symbols.end(),
                     [&](const std::string& symbol) { return strip.locals.contains(symbol); }) &&
         std::any_of(side.terms().begin(), side.terms().end(),
                     [](const auto& term) { return term.second < 0; });
}

}  // namespace

Status add_tile_condition(const ExprPtr& guard, const TileStrip& strip, StagedArray& array) {
  const auto* comparison = source::as<source::Binary>(guard);
  if (comparison == nullptr || !source::is_comparison(comparison->op) ||
      comparison->op == source::BinaryOperator::not_equal) {
    return refuse("a guard of its accesses is no comparison");
  }
  const auto left = local_polynomial(comparison->left, strip.analysis, strip.block);
  const auto right = local_polynomial(comparison->right, strip.analysis, strip.block);
  if (!left || !right)
    return refuse("a guard of its accesses is no comparison of known expressions");
  if (compares_unsigned(guard) && (may_wrap(*left, strip) || may_wrap(*right, strip)))
    return refuse("a guard compares without signs what may be negative");
  bool inside = false;
  bool outside = false;
  for (const Polynomial& side : {*left, *right}) {
    for (const std::string& symbol : side.symbols()) {
      if (!strip.locals.contains(symbol)) continue;
      (array.footprint.dimension_of(symbol) != nullptr ? inside : outside) = true;
    }
  }
  if (!inside && outside) return {};
  if (inside && outside) return refuse("a guard mixes its index with other indices");
  const auto mapped_left = over_coordinates(*left, strip, array);
  const auto mapped_right = over_coordinates(*right, strip, array);
  if (!mapped_left || !mapped_right) {
    return refuse("a guard of its accesses is no function of the tile's coordinates");
  }
  array.guards.push_back({comparison->op, *mapped_left, *mapped_right});
  return {};
}

}  // namespace regraph::rewrite
