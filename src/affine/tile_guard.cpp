#include "affine/tile_guard.h"

#include "source/build.h"

#include <cstdlib>

namespace regraph::affine {

TileGuard TileGuard::not_negative(const Polynomial& value) {
  TileGuard result{BinaryOperator::less_equal, {}, {}};
  for (const auto& [monomial, coefficient] : value.terms()) {
    if (monomial.empty() && coefficient == -1) {
      result.op = BinaryOperator::less;
      continue;
    }
    Polynomial term(std::abs(coefficient));
    for (const std::string& symbol : monomial)
      term = term * Polynomial::symbol(symbol);
    Polynomial& side = coefficient > 0 ? result.right : result.left;
    side = side + term;
  }
  return result;
}

ExprPtr TileGuard::expression(bool wide) const {
  return binary(op, to_expression(left, wide), to_expression(right, wide));
}

std::optional<TileGuard> TileGuard::hardest(const std::string& coordinate,
                                            std::int64_t extent) const {
  const auto coefficient = (left - right).coefficient(coordinate);
  const auto slope = coefficient ? coefficient->constant() : std::nullopt;
  if (!slope) return std::nullopt;
  if (*slope == 0) return *this;
  bool fails_high = false;
  switch (op) {
    case BinaryOperator::less:
    case BinaryOperator::less_equal:
      fails_high = *slope > 0;
      break;
    case BinaryOperator::greater:
    case BinaryOperator::greater_equal:
      fails_high = *slope < 0;
      break;
    default:
      return std::nullopt;
  }
  const Polynomial worst(fails_high ? extent - 1 : 0);
  return TileGuard{op, left.substitute(coordinate, worst), right.substitute(coordinate, worst)};
}

}  // namespace regraph::affine
