// A condition under which an element belongs to what is staged, over the tile's coordinates.
#pragma once

#include "affine/ir.h"
#include "source/polynomial.h"

#include <optional>
#include <string>

namespace regraph::affine {

// left op right, an order or equality.
struct TileGuard {
  BinaryOperator op = BinaryOperator::less;
  Polynomial left;
  Polynomial right;

  // value >= 0, with what is subtracted on the left.
  [[nodiscard]] static TileGuard not_negative(const Polynomial& value);

  [[nodiscard]] ExprPtr expression(bool wide) const;

  // The condition where the coordinate, of 0 .. extent - 1, makes it hardest to meet: if it holds
  // there, it holds for all of them. Nothing where that cannot be told from the coefficients.
  [[nodiscard]] std::optional<TileGuard> hardest(const std::string& coordinate,
                                                 std::int64_t extent) const;
};

}  // namespace regraph::affine
