#include "eval/verify/comparison.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace regraph::verify::comparison_test {
namespace {

Argument output(ScalarType type = ScalarType::f32) {
  Argument argument;
  argument.name = "C";
  argument.type = type;
  argument.is_pointer = true;
  argument.direction = Direction::out;
  return argument;
}

template <typename T>
std::vector<std::byte> bytes(const std::vector<T>& values) {
  std::vector<std::byte> result(values.size() * sizeof(T));
  std::memcpy(result.data(), values.data(), result.size());
  return result;
}

template <typename T>
BufferComparison check(ScalarType type, const std::vector<T>& expected,
                       const std::vector<T>& actual, double tau, bool exact = false,
                       std::vector<std::uint8_t> untouched = {}) {
  const Argument argument = output(type);
  const std::vector<std::int64_t> extents = {static_cast<std::int64_t>(expected.size())};
  const auto before = bytes(std::vector<T>(expected.size(), T(77)));
  return compare({argument, extents, bytes(expected), bytes(actual), before, untouched}, tau,
                 exact);
}

using Floats = std::vector<float>;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
const float kNaN = std::numeric_limits<float>::quiet_NaN();

TEST(Comparison, RoundingPassesErrorsDoNot) {
  EXPECT_TRUE(check<float>(ScalarType::f32, {1, 2, 3}, {1, 2, 3}, 1e-6).equal);
  EXPECT_TRUE(check<float>(ScalarType::f32, {1, 2, 3}, {1, 2.0000002f, 3}, 1e-6).equal);
  const auto wrong = check<float>(ScalarType::f32, {1, 2, 3}, {1, 2.01f, 3}, 1e-6);
  EXPECT_FALSE(wrong.equal);
  EXPECT_NE(wrong.message.find("'C': element 1 is 2.01, expected 2"), std::string::npos)
      << wrong.message;
  EXPECT_NEAR(wrong.relative_error, 0.01 / std::sqrt(14.0), 1e-6);
}

TEST(Comparison, AnElementNearZeroIsJudgedByTheBuffersScale) {
  // Cancellation leaves 1e-7 where the exact answer is 0; other elements are about 1.
  Floats expected(100, 1.0f);
  Floats actual = expected;
  expected[5] = 0.0f;
  actual[5] = 1e-7f;
  EXPECT_TRUE(check(ScalarType::f32, expected, actual, 1e-6).equal);
  actual[5] = 1e-4f;
  EXPECT_FALSE(check(ScalarType::f32, expected, actual, 1e-6).equal);
}

TEST(Comparison, ManySmallErrorsAreLessPrecision) {
  // Every element within 8 tau, but all off by 4 tau: rounding to a shorter type looks like this.
  Floats expected;
  Floats actual;
  for (int i = 0; i < 1000; ++i) {
    expected.push_back(1.0f);
    actual.push_back(i % 2 == 0 ? 1.000004f : 0.999996f);
  }
  const auto result = check(ScalarType::f32, expected, actual, 1e-6);
  EXPECT_FALSE(result.equal);
  EXPECT_NE(result.message.find("less precise"), std::string::npos) << result.message;
}

TEST(Comparison, SpecialValuesMustMatchInPlaceAndSign) {
  EXPECT_TRUE(
      check<float>(ScalarType::f32, {kNaN, kInfinity, 1}, {-kNaN, kInfinity, 1}, 1e-6).equal);
  EXPECT_FALSE(check<float>(ScalarType::f32, {1, kInfinity}, {1, -kInfinity}, 1e-6).equal);
  EXPECT_FALSE(check<float>(ScalarType::f32, {1, 2}, {1, kNaN}, 1e-6).equal);
  EXPECT_FALSE(check<float>(ScalarType::f32, {1, kNaN}, {1, 2}, 1e-6).equal);
  EXPECT_FALSE(check<float>(ScalarType::f32, {1, kInfinity}, {1, 3e38f}, 1e-6).equal);
  EXPECT_TRUE(check<float>(ScalarType::f32, {0.0f}, {-0.0f}, 1e-6, true).equal);
}

TEST(Comparison, ExactModeAllowsNoRounding) {
  const auto result = check<float>(ScalarType::f32, {1000}, {1000.0001f}, 1e-6, true);
  EXPECT_FALSE(result.equal);
  EXPECT_NE(result.message.find("no rounding"), std::string::npos);
}

TEST(Comparison, IntegersAreExact) {
  using Ints = std::vector<std::int64_t>;
  const std::int64_t big = (std::int64_t{1} << 60) + 1;
  EXPECT_TRUE(check(ScalarType::i64, Ints{big}, Ints{big}, 0.0).equal);
  EXPECT_FALSE(check(ScalarType::i64, Ints{big}, Ints{big - 1}, 0.0).equal);  // equal as doubles
}

TEST(Comparison, UntouchedElementsMustStayUntouched) {
  EXPECT_TRUE(check<float>(ScalarType::f32, {1, 9, 3}, {1, 77, 3}, 1e-6, false, {0, 1, 0}).equal);
  const auto wrong = check<float>(ScalarType::f32, {1, 9, 3}, {1, 5, 3}, 1e-6, false, {0, 1, 0});
  EXPECT_FALSE(wrong.equal);
  EXPECT_NE(wrong.message.find("leaves it alone"), std::string::npos) << wrong.message;
  const auto missing =
      check<float>(ScalarType::f32, {1, 9, 3}, {1, 77, 77}, 1e-6, false, {0, 1, 0});
  EXPECT_NE(missing.message.find("not written"), std::string::npos) << missing.message;
}

TEST(Comparison, AllZeroReferenceAcceptsZerosOnly) {
  EXPECT_TRUE(check<float>(ScalarType::f32, {0, 0}, {0, -0.0f}, 1e-6).equal);
  EXPECT_FALSE(check<float>(ScalarType::f32, {0, 0}, {0, 1e-20f}, 1e-6).equal);
}

TEST(Comparison, MessageGivesCoordinates) {
  const Argument argument = output();
  const std::vector<std::int64_t> extents = {2, 3};
  const auto expected = bytes(Floats{0, 1, 2, 3, 4, 5});
  const auto actual = bytes(Floats{0, 1, 2, 3, 4, 6});
  const auto result = compare({argument, extents, expected, actual, actual, {}}, 1e-6, false);
  EXPECT_NE(result.message.find("element 5 [1][2]"), std::string::npos) << result.message;
}

TEST(Tolerance, FollowsTypeAndReductionLength) {
  const CheckPolicy check;
  const Assumptions assume;
  Arithmetic arithmetic;
  EXPECT_EQ(tolerance(ScalarType::i32, arithmetic, check, assume), 0.0);
  EXPECT_DOUBLE_EQ(tolerance(ScalarType::f32, arithmetic, check, assume), 1e-6);
  EXPECT_DOUBLE_EQ(tolerance(ScalarType::f64, arithmetic, check, assume), 1e-14);
  arithmetic.reduction_length = 1024;
  EXPECT_NEAR(tolerance(ScalarType::f32, arithmetic, check, assume), 7.6e-6, 1e-7);
  EXPECT_DOUBLE_EQ(tolerance(ScalarType::f16, arithmetic, check, assume), 2e-3);
  EXPECT_DOUBLE_EQ(tolerance(ScalarType::bf16, arithmetic, check, assume), 8e-3);
  arithmetic.reduction_length = 1e9;
  EXPECT_DOUBLE_EQ(tolerance(ScalarType::f32, arithmetic, check, assume), 1e-4);
  arithmetic.reduction_length = 1024;
  arithmetic.adds_halves_atomically = true;
  EXPECT_DOUBLE_EQ(tolerance(ScalarType::bf16, arithmetic, check, assume), 0.125);
  EXPECT_DOUBLE_EQ(tolerance(ScalarType::f16, arithmetic, check, assume), 0.015625);
  EXPECT_NEAR(tolerance(ScalarType::f32, arithmetic, check, assume), 7.6e-6, 1e-7);
  CheckPolicy given;
  given.relative_tolerance = 0.5;
  EXPECT_EQ(tolerance(ScalarType::f32, arithmetic, given, assume), 0.5);
  EXPECT_EQ(tolerance(ScalarType::u8, arithmetic, given, assume), 0.0);
}

TEST(ExactlyRepresentable, SmallMultiplesOfASixteenth) {
  const Argument argument = output();
  EXPECT_TRUE(exactly_representable(argument, bytes(Floats{1, -2.5f, 0.0625f}), {}));
  EXPECT_FALSE(exactly_representable(argument, bytes(Floats{1, 0.1f}), {}));
  EXPECT_TRUE(
      exactly_representable(argument, bytes(Floats{1, 0.1f}), std::vector<std::uint8_t>{0, 1}));
  EXPECT_FALSE(exactly_representable(argument, bytes(Floats{1e7f}), {}));
  EXPECT_FALSE(exactly_representable(argument, bytes(Floats{kNaN}), {}));
}

}  // namespace
}  // namespace regraph::verify::comparison_test
