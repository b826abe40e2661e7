#include "eval/gpu/timing/double_reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace regraph::gpu::double_reference_test {
namespace {

template <typename Number>
std::vector<std::byte> bytes_of(const std::vector<Number>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(Number));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

float at(const std::vector<std::byte>& bytes, std::size_t element) {
  float value = 0.0F;
  std::memcpy(&value, &bytes[element * sizeof(float)], sizeof(float));
  return value;
}

Argument argument_of(ScalarType type, Direction direction) {
  Argument argument;
  argument.type = type;
  argument.is_pointer = true;
  argument.direction = direction;
  return argument;
}

class RoundedFromDouble : public ::testing::Test {
 protected:
  RoundedFromDouble() {
    problem.arguments = {argument_of(ScalarType::f32, Direction::in),
                         argument_of(ScalarType::f32, Direction::out),
                         argument_of(ScalarType::i32, Direction::out)};
  }
  std::optional<verify::Buffers> rounded(const std::vector<float>& original,
                                         const std::vector<double>& exact,
                                         std::vector<std::uint8_t> untouched = {}) {
    const auto counts = bytes_of<std::int32_t>({7, 8});
    return rounded_from_double(problem, {{}, bytes_of(original), counts},
                               {{}, bytes_of(exact), bytes_of<std::int32_t>({9, 9})},
                               {{}, std::move(untouched), {}});
  }
  Problem problem;
};

TEST_F(RoundedFromDouble, OutputsAreTheNearestFloats) {
  const auto values = rounded({100.1F, -3.0F}, {100.0, -3.0 - 1e-12});
  ASSERT_TRUE(values);
  EXPECT_EQ(at((*values)[1], 0), 100.0F);
  EXPECT_EQ(at((*values)[1], 1), -3.0F);
  // Inputs have none, and integers are the original's.
  EXPECT_TRUE((*values)[0].empty());
  EXPECT_EQ((*values)[2], bytes_of<std::int32_t>({7, 8}));
}

TEST_F(RoundedFromDouble, WhatIsNotFiniteOrNotWrittenIsTheOriginals) {
  const float infinite = std::numeric_limits<float>::infinity();
  const auto values =
      rounded({infinite, 5.0F, 123.0F, 2.0F}, {1.0, 1e300, 4.0, 2.001}, {0, 0, 1, 0});
  ASSERT_TRUE(values);
  EXPECT_EQ(at((*values)[1], 0), infinite);
  EXPECT_EQ(at((*values)[1], 1), 5.0F);
  EXPECT_EQ(at((*values)[1], 2), 123.0F);
  EXPECT_EQ(at((*values)[1], 3), 2.001F);
}

TEST_F(RoundedFromDouble, AnotherProgramIsNoYardstick) {
  EXPECT_TRUE(rounded({1.009F, 0.0F}, {1.0, 0.0}));
  EXPECT_FALSE(rounded({1.02F, 0.0F}, {1.0, 0.0}));
  EXPECT_FALSE(rounded({0.0F, 0.0F}, {0.0, 0.0}));
  EXPECT_FALSE(rounded({1.0F, 2.0F}, {1.0}));
}

// More elements than one thread takes.
TEST_F(RoundedFromDouble, LargeOutputsAreRoundedWhole) {
  std::vector<float> original(1000003);
  std::vector<double> exact(original.size());
  for (std::size_t e = 0; e < exact.size(); ++e) {
    exact[e] = std::sqrt(static_cast<double>(e));
    original[e] = static_cast<float>(exact[e] * (1.0 + 2.5e-4));
  }
  const auto values = rounded(original, exact);
  ASSERT_TRUE(values);
  for (std::size_t e = 0; e < exact.size(); ++e)
    ASSERT_EQ(at((*values)[1], e), static_cast<float>(exact[e])) << e;
}

}  // namespace
}  // namespace regraph::gpu::double_reference_test
