#include "eval/verify/sprinkle.h"

#include "eval/verify/element.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace regraph::verify::sprinkle_test {
namespace {

Argument input(ScalarType type) {
  Argument argument;
  argument.name = "x";
  argument.type = type;
  argument.is_pointer = true;
  argument.direction = Direction::in;
  argument.shape = {IntegerExpression(1000)};
  return argument;
}

std::vector<double> sprinkled(const Argument& argument, const std::vector<double>& values,
                              Sprinkling how) {
  constexpr std::size_t kCount = 1000;
  const std::size_t size = size_in_bytes(argument.type);
  std::vector<std::byte> bytes(kCount * size);
  for (std::size_t i = 0; i < kCount; ++i)
    store_element(argument.type, 0.5, bytes.data() + i * size);
  sprinkle(argument, {}, values, how, 1, bytes);
  std::vector<double> result;
  for (std::size_t i = 0; i < kCount; ++i)
    result.push_back(load_element(argument.type, bytes.data() + i * size));
  return result;
}

TEST(Sprinkle, LeavesMostElementsAsTheyAre) {
  const std::vector<double> elements =
      sprinkled(input(ScalarType::f32), {77.5}, Sprinkling::values);
  EXPECT_GT(std::ranges::count(elements, 0.5), 600);
  EXPECT_GT(std::ranges::count(elements, 77.5), 10);
  EXPECT_GT(std::ranges::count(elements, 2 * 77.5), 2);
  EXPECT_GT(std::ranges::count(elements, -77.5), 2);
  const auto is_next_to_it = [](double one) { return one != 77.5 && std::abs(one - 77.5) < 1e-4; };
  EXPECT_GT(std::ranges::count_if(elements, is_next_to_it), 2);
}

TEST(Sprinkle, PutsNumbersAsBits) {
  constexpr std::int32_t kBits = 0x3f8abcde;
  const std::vector<double> elements =
      sprinkled(input(ScalarType::f32), {double{kBits}}, Sprinkling::bits);
  EXPECT_GT(std::ranges::count(elements, double{std::bit_cast<float>(kBits)}), 100);
}

TEST(Sprinkle, EverywhereIsEverywhere) {
  const std::vector<double> elements =
      sprinkled(input(ScalarType::f32), {77.5}, Sprinkling::everywhere);
  EXPECT_EQ(std::ranges::count(elements, 77.5), 1000);
}

TEST(Sprinkle, TheHighestIsAboveAllOthers) {
  for (const double value : {12.5, -77.0}) {
    const std::vector<double> elements =
        sprinkled(input(ScalarType::f32), {value}, Sprinkling::highest);
    EXPECT_EQ(*std::ranges::max_element(elements), value);
    EXPECT_GT(std::ranges::count(elements, value), 100);
    EXPECT_LT(std::ranges::count(elements, value), 400);
    // Some of the others are of its sign.
    const auto near = [&](double one) { return one < value && one * value > 0.0; };
    EXPECT_GT(std::ranges::count_if(elements, near), 100);
  }
}

TEST(Sprinkle, TheEndIsTheLastFewElements) {
  const std::vector<double> elements =
      sprinkled(input(ScalarType::f32), {77.5}, Sprinkling::at_the_end);
  EXPECT_EQ(std::count(elements.begin(), elements.end() - 8, 0.5), 992);
  const auto at_the_end = std::count(elements.end() - 8, elements.end(), 77.5);
  EXPECT_GT(at_the_end, 0);
  EXPECT_LT(at_the_end, 8);
}

}  // namespace
}  // namespace regraph::verify::sprinkle_test
