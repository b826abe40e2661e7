#include "eval/model/work_witness.h"

#include "eval/model/model_test_support.h"

#include <gtest/gtest.h>

namespace regraph::work_witness_test {
namespace {

const Cancellation kNever;

verify::LoadedPlan loaded(const Problem& problem, const std::string& source) {
  auto plan =
      verify::load_plan(CompiledPlan::of(test::compiled(source), problem.launch), problem.launch);
  EXPECT_TRUE(plan.ok()) << plan.error().message;
  return plan.ok() ? *plan : verify::LoadedPlan();
}

std::string copy_when(const std::string& condition) {
  return "__global__ void k(const float* in, float* out, int n) {\n"
         "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n && (" +
         condition + ")) out[i] = in[i];\n}\n";
}

TEST(WorkWitness, EstimatesBytesOfTheWholeGrid) {
  const Problem problem = test::copy_problem();
  const verify::LoadedPlan plan = loaded(problem, test::kCopy);
  const double bytes = 4.0 * (1 << 20);
  for (const int blocks : {2, 32, 200}) {
    const auto work = estimate_work(problem, plan, problem.bench[0], blocks, kNever);
    ASSERT_TRUE(work.ok()) << work.error().message;
    EXPECT_DOUBLE_EQ(work->read_bytes, bytes);
    EXPECT_DOUBLE_EQ(work->written_bytes, bytes);
  }
}

TEST(WorkWitness, MissesWhatIsNotDone) {
  const Problem problem = test::copy_problem();
  const verify::LoadedPlan original = loaded(problem, test::kCopy);
  WorkWitness witness;
  const auto missing = [&](const std::string& source) {
    return witness.missing(problem, original, loaded(problem, source), kNever).has_value();
  };
  EXPECT_FALSE(missing(test::kCopy));
  EXPECT_TRUE(missing(copy_when("n < 100000")));
  EXPECT_TRUE(missing(copy_when("blockIdx.x % 2 == 0")));
  EXPECT_TRUE(missing(copy_when("threadIdx.x % 2 == 0")));
  // Blocks that all write, but only part of the input is read.
  EXPECT_TRUE(
      missing("__global__ void k(const float* in, float* out, int n) {\n"
              "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
              "  if (i < n) out[i] = 1.0f;\n}\n"));
}

TEST(WorkWitness, AnOriginalThatDoesLessSetsTheMeasure) {
  const Problem problem = test::copy_problem();
  const std::string half = copy_when("i % 4 == 0");
  const verify::LoadedPlan original = loaded(problem, half);
  WorkWitness witness;
  EXPECT_FALSE(witness.missing(problem, original, loaded(problem, half), kNever).has_value());
  EXPECT_TRUE(
      witness.missing(problem, original, loaded(problem, copy_when("i % 16 == 0")), kNever));
}

TEST(WorkWitness, UnevenBlocksAreNoReason) {
  const Problem problem = test::copy_problem();
  const verify::LoadedPlan original = loaded(problem, test::kCopy);
  WorkWitness witness;
  // The second half of the blocks does all the work.
  const std::string uneven =
      "__global__ void k(const float* in, float* out, int n) {\n"
      "  int half = gridDim.x / 2;\n  if (blockIdx.x < half) return;\n"
      "  int i = 2 * (blockIdx.x - half) * blockDim.x + threadIdx.x;\n"
      "  if (i < n) out[i] = in[i];\n  i += blockDim.x;\n  if (i < n) out[i] = in[i];\n}\n";
  const auto found = witness.missing(problem, original, loaded(problem, uneven), kNever);
  EXPECT_FALSE(found.has_value()) << *found;
}

}  // namespace
}  // namespace regraph::work_witness_test
