#include "affine/tile_guard.h"

#include "source/printer.h"

#include <gtest/gtest.h>

namespace regraph::test::tile_guard_test {
namespace {

using affine::TileGuard;
using source::BinaryOperator;
using source::Polynomial;

Polynomial symbol(const char* name) {
  return Polynomial::symbol(name);
}

TEST(TileGuard, IsAnExpressionOverCoordinates) {
  const TileGuard guard{BinaryOperator::less, Polynomial(16) * symbol("blockIdx.x") + symbol("c"),
                        symbol("n")};
  EXPECT_EQ(source::print(guard.expression(false)), "c + (int)blockIdx.x * 16 < n");
  EXPECT_EQ(source::print(guard.expression(true)),
            "(long long)c + (long long)blockIdx.x * 16 < (long long)n");
}

// c < n fails first at the last c, n - c > 0 as well, c > 0 at the first.
TEST(TileGuard, OrdersAreHardestAtOneEnd) {
  const Polynomial n = symbol("n");
  const Polynomial c = symbol("c");
  struct Case {
    TileGuard guard;
    std::int64_t worst;
  };
  for (const auto& [guard, worst] :
       {Case{{BinaryOperator::less, c, n}, 7}, Case{{BinaryOperator::less_equal, c, n}, 7},
        Case{{BinaryOperator::greater, n, c}, 7},
        Case{{BinaryOperator::greater_equal, n - c, Polynomial(1)}, 7},
        Case{{BinaryOperator::greater, c, Polynomial(0)}, 0},
        Case{{BinaryOperator::greater_equal, c, n}, 0},
        Case{{BinaryOperator::less, n - Polynomial(2) * c, Polynomial(5)}, 0},
        Case{{BinaryOperator::less_equal, Polynomial(0), c}, 0},
        // What is on both sides counts once.
        Case{{BinaryOperator::less, Polynomial(2) * c, n + Polynomial(3) * c}, 0}}) {
    const auto hardest = guard.hardest("c", 8);
    ASSERT_TRUE(hardest) << source::print(guard.expression(false));
    EXPECT_EQ(hardest->op, guard.op);
    EXPECT_EQ(hardest->left, guard.left.substitute("c", Polynomial(worst)));
    EXPECT_EQ(hardest->right, guard.right.substitute("c", Polynomial(worst)));
  }
}

TEST(TileGuard, WhatDoesNotMentionTheCoordinateStays) {
  const TileGuard guard{BinaryOperator::equal, symbol("r"), symbol("n")};
  const auto hardest = guard.hardest("c", 8);
  ASSERT_TRUE(hardest);
  EXPECT_EQ(hardest->left, guard.left);
  EXPECT_EQ(hardest->right, guard.right);
  // Both sides grow alike.
  EXPECT_TRUE(
      (TileGuard{BinaryOperator::less, symbol("c"), symbol("c") + symbol("n")}.hardest("c", 8)));
}

TEST(TileGuard, SomeHaveNoHardestPlace) {
  const Polynomial c = symbol("c");
  EXPECT_FALSE((TileGuard{BinaryOperator::equal, c, symbol("n")}.hardest("c", 8)));
  // Whichever sign the stride has.
  EXPECT_FALSE(
      (TileGuard{BinaryOperator::less, c * symbol("stride"), symbol("n")}.hardest("c", 8)));
  EXPECT_FALSE((TileGuard{BinaryOperator::less, c * c, symbol("n")}.hardest("c", 8)));
}

}  // namespace
}  // namespace regraph::test::tile_guard_test
