#include "eval/gpu/timing/exact_sums.h"

#include <gtest/gtest.h>

namespace regraph::gpu::exact_sums_test {
namespace {

Problem with_output(ScalarType type) {
  Argument out;
  out.name = "out";
  out.type = type;
  out.is_pointer = true;
  out.direction = Direction::out;
  Problem problem;
  problem.arguments = {out};
  return problem;
}

TEST(ExactSums, RoughAreMillionsOfTermsInSinglePrecision) {
  const Problem problem = with_output(ScalarType::f32);
  // What a matrix product or a row of a softmax sums is judged by its tolerance.
  EXPECT_FALSE(sums_are_rough(problem, 16384.0));
  EXPECT_FALSE(sums_are_rough(problem, 1e6));
  EXPECT_TRUE(sums_are_rough(problem, 1.1e6));
  EXPECT_TRUE(sums_are_rough(problem, 67108864.0));
}

TEST(ExactSums, DoublesAndIntegersAreNotRough) {
  EXPECT_FALSE(sums_are_rough(with_output(ScalarType::f64), 67108864.0));
  EXPECT_FALSE(sums_are_rough(with_output(ScalarType::i32), 67108864.0));
  EXPECT_TRUE(sums_are_rough(with_output(ScalarType::f64), 0x1p50));
}

// Lower precision would be exact on small integers: it must not get there.
TEST(ExactSums, HalfPrecisionIsNeverJudgedByThem) {
  EXPECT_FALSE(sums_are_rough(with_output(ScalarType::f16), 67108864.0));
  EXPECT_FALSE(sums_are_rough(with_output(ScalarType::bf16), 67108864.0));
}

TEST(ExactSums, AnInputDoesNotCount) {
  Problem problem = with_output(ScalarType::f32);
  problem.arguments.front().direction = Direction::in;
  EXPECT_FALSE(sums_are_rough(problem, 67108864.0));
}

}  // namespace
}  // namespace regraph::gpu::exact_sums_test
