#include "eval/verify/predicate_slice.h"

#include "eval/verify/loaded_plan.h"
#include "eval/verify/untaken_branches.h"
#include "eval/verify/verifier_test_support.h"
#include "ptx/decode/code.h"

#include <cstring>

namespace regraph::verify::predicate_slice_test {
namespace {

using test::compiled;
using test::launch;

LoadedPlan loaded(const std::string& body) {
  const LaunchPlan plan{{launch({128, 1, 1}, "1")}};
  const auto kernel = compiled("__global__ void k(const int* x, int* y, int n) {\n" + body + "\n}");
  auto made = load_plan(CompiledPlan::of(kernel, plan), plan);
  EXPECT_TRUE(made.ok());
  return *std::move(made);
}

// The comparison with this constant.
UntakenBranch comparison(const LoadedPlan& plan, std::int64_t constant) {
  for (const UntakenBranch& one : all_comparisons(plan))
    if (one.integer == constant) return one;
  ADD_FAILURE() << "no comparison with " << constant;
  return {};
}

PredicateSlice slice_of(const LoadedPlan& plan, std::int64_t constant) {
  const ptx::Program& program = plan[0].program;
  return {program, ptx::DefinitionTable(*program.code().function),
          comparison(plan, constant).instruction};
}

std::vector<std::byte> packed(int n) {
  std::vector<std::byte> parameters(20);
  std::memcpy(parameters.data() + 16, &n, sizeof(n));
  return parameters;
}

TEST(PredicateSlice, WorksOutWhatSizesAloneDecide) {
  const LoadedPlan plan = loaded("if (n % 7 == 3) y[0] = 1; else y[threadIdx.x] = x[threadIdx.x];");
  PredicateSlice slice = slice_of(plan, 3);
  ASSERT_EQ(slice.depends_on(), DependsOn::parameters);
  for (const int n : {0, 3, 4, 10, 12, 1000003, -4, 2147483647}) {
    const auto holds = slice.holds(packed(n), {1, 1, 1}, {128, 1, 1});
    ASSERT_TRUE(holds.has_value()) << n;
    const bool is_three = n % 7 == 3;
    const bool asks_for_equal = comparison(plan, 3).comparison.starts_with("setp.eq");
    EXPECT_EQ(*holds, asks_for_equal ? is_three : !is_three) << n;
  }
}

TEST(PredicateSlice, KnowsExtentsOfTheLaunch) {
  const LoadedPlan plan = loaded("if (gridDim.x * blockDim.x == 4321) y[n] = 1;");
  PredicateSlice slice = slice_of(plan, 4321);
  const bool asks_for_equal = comparison(plan, 4321).comparison.starts_with("setp.eq");
  EXPECT_EQ(slice.holds(packed(1), {4321, 1, 1}, {1, 1, 1}), asks_for_equal);
  EXPECT_EQ(slice.holds(packed(1), {4320, 1, 1}, {1, 1, 1}), !asks_for_equal);
}

TEST(PredicateSlice, TellsThreadsAndDataApart) {
  const LoadedPlan threads = loaded("if (threadIdx.x == 77) y[n] = 1;");
  EXPECT_EQ(slice_of(threads, 77).depends_on(), DependsOn::threads);
  const LoadedPlan data = loaded("if (x[n] == 77) y[n] = 1;");
  PredicateSlice slice = slice_of(data, 77);
  EXPECT_EQ(slice.depends_on(), DependsOn::data);
  EXPECT_FALSE(slice.holds(packed(1), {1, 1, 1}, {1, 1, 1}).has_value());
}

}  // namespace
}  // namespace regraph::verify::predicate_slice_test
