#include "capture/problem/match_expressions.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace regraph::capture::match_expressions_test {
namespace {

std::string length(const std::vector<Symbols>& launches, const std::vector<std::int64_t>& values) {
  const auto found = match_length(launches, values);
  return found ? found->text() : "none";
}

std::string grid(const std::vector<Symbols>& launches, const std::vector<std::int64_t>& values,
                 std::int64_t block) {
  const auto found = match_grid(launches, values, "bx", block);
  return found ? found->text() : "none";
}

TEST(MatchExpressions, FindsProductsAndMultiples) {
  const std::vector<Symbols> one = {{{"m", 70}, {"n", 50}}};
  EXPECT_EQ(length(one, {50}), "n");
  EXPECT_EQ(length(one, {3500}), "m * n");
  EXPECT_EQ(length(one, {51}), "n + 1");
  EXPECT_EQ(length(one, {4 * 70}), "4 * m");
  EXPECT_EQ(length(one, {12345}), "none");
}

TEST(MatchExpressions, HoldsInEveryLaunch) {
  const std::vector<Symbols> two = {{{"m", 64}, {"n", 64}}, {{"m", 32}, {"n", 16}}};
  EXPECT_EQ(length(two, {64, 16}), "n");
  EXPECT_EQ(length(two, {4096, 512}), "m * n");
  EXPECT_EQ(length(two, {4096, 1024}), "m * m");
  EXPECT_EQ(length(two, {64, 17}), "none");
  EXPECT_EQ(length({{{"n", 2000}}, {{"n", 100}}}, {1'280'000, 64'000}), "640 * n");
  // A line through both: 3 * m + 5.
  EXPECT_EQ(length(two, {197, 101}), "3 * m + 5");
}

TEST(MatchExpressions, GridsAreDividedByBlocks) {
  const std::vector<Symbols> one = {{{"n", 100'000}}};
  EXPECT_EQ(grid(one, {391}, 256), "cdiv(n, bx)");
  EXPECT_EQ(grid(one, {100'000}, 256), "n");
  EXPECT_EQ(grid(one, {98}, 256), "cdiv(n, 4 * bx)");
  EXPECT_EQ(grid(one, {132}, 256), "none");
}

TEST(MatchExpressions, SmallNumbersProveNothing) {
  EXPECT_EQ(length({{{"n", 3}}}, {3}), "none");
  EXPECT_EQ(length({}, {}), "none");
}

}  // namespace
}  // namespace regraph::capture::match_expressions_test
