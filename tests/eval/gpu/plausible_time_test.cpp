#include "eval/gpu/timing/plausible_time.h"

#include <gtest/gtest.h>

namespace regraph::gpu::plausible_time_test {
namespace {

// A gigabyte in and out, on 4.8 TB/s: 0.42 ms at least.
Problem copy_problem() {
  Problem problem;
  problem.bench = {{{"n", 125'000'000}}};
  problem.bytes = *IntegerExpression::parse("16 * n");
  return problem;
}

TEST(PlausibleTime, FasterThanTheMemoryIsImpossible) {
  const DeviceSpec h200 = *find_device("h200");
  const Problem problem = copy_problem();
  EXPECT_FALSE(impossible_time(problem, h200, 2e-3, 0.5e-3));
  const auto why = impossible_time(problem, h200, 2e-3, 0.1e-3);
  ASSERT_TRUE(why);
  EXPECT_NE(why->find("impossible"), std::string::npos) << *why;
}

TEST(PlausibleTime, AnOriginalThatBeatsTheManifestShowsItWrong) {
  const DeviceSpec h200 = *find_device("h200");
  EXPECT_FALSE(impossible_time(copy_problem(), h200, 0.1e-3, 0.05e-3));
}

TEST(PlausibleTime, NothingIsKnownWithoutAmountsOrWithSeveralSizes) {
  const DeviceSpec h200 = *find_device("h200");
  Problem problem = copy_problem();
  problem.bytes.reset();
  EXPECT_FALSE(impossible_time(problem, h200, 1.0, 1e-9));
  problem = copy_problem();
  problem.bench.push_back({{"n", 1000}});
  EXPECT_FALSE(impossible_time(problem, h200, 1.0, 1e-9));
}

// Tensor cores and half precision do more than the table's peak.
TEST(PlausibleTime, ArithmeticCountsForFloatsOnly) {
  const DeviceSpec h200 = *find_device("h200");
  Problem problem = copy_problem();
  problem.bytes.reset();
  problem.flops = *IntegerExpression::parse("1000000 * n");
  Argument argument;
  argument.is_pointer = true;
  argument.type = ScalarType::f32;
  problem.arguments = {argument};
  const double least = 1.25e14 / h200.peak_fp32_flops();
  EXPECT_FALSE(impossible_time(problem, h200, 10.0 * least, 1.1 * least));
  EXPECT_TRUE(impossible_time(problem, h200, 10.0 * least, 0.5 * least));
  problem.arguments[0].type = ScalarType::f16;
  EXPECT_FALSE(impossible_time(problem, h200, 10.0 * least, 0.5 * least));
}

}  // namespace
}  // namespace regraph::gpu::plausible_time_test
