// A condition under which an element belongs to what is staged, over the tile's coordinates.
#pragma once

#include "source/ir.h"
#include "source/polynomial.h"

#include <optional>
#include <string>

namespace regraph::rewrite {

// left op right, an order or equality.
struct TileGuard {
  source::BinaryOperator op = source::BinaryOperator::less;
  source::Polynomial left;
  source::Polynomial right;

  [[nodiscard]] source::ExprPtr expression(bool wide) const;

  // The condition where the coordinate, of 0 .. extent - 1, makes it hardest to meet: if it holds
  // there, it holds for all of them. Nothing where that cannot be told from the coefficients.
  [[nodiscard]] std::optional<TileGuard> hardest(const std::string& coordinate,
                                                 std::int64_t extent) const;
};

}  // namespace regraph::rewrite
