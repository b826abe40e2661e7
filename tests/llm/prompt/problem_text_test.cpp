#include "llm/prompt/problem_text.h"

#include "kernel/launch_change.h"
#include "llm/prompt/sample.h"

#include <gtest/gtest.h>

namespace regraph::llm::problem_text_test {
namespace {

TEST(ProblemText, ListsArgumentsWithTypesDirectionsAndShapes) {
  EXPECT_EQ(arguments_text(sample::problem()),
            "M: int, size M\n"
            "N: int, size N\n"
            "K: int, size K\n"
            "alpha: float, 1.5 in tests\n"
            "A: float*, in, shape [M, K]\n"
            "B: float*, in, shape [K, N]\n"
            "beta: float, 0.5 in tests\n"
            "C: float*, inout, shape [M, N]");
}

TEST(ProblemText, SizesAreCutVisibly) {
  const Problem problem = sample::problem();
  EXPECT_EQ(sizes_text(problem, 2),
            "timed at {K: 4096, M: 4096, N: 4096}\n"
            "results compared at {K: 45, M: 70, N: 50}, {K: 64, M: 128, N: 128}, and 1 more");
}

TEST(ProblemText, GrantsAreTheManifests) {
  Assumptions assume;
  assume.align = 4;
  assume.noalias = false;
  assume.reassociate = false;
  EXPECT_EQ(grants_text(assume),
            "granted: every buffer is aligned to 4 bytes\n"
            "not granted: buffers do not overlap (noalias); floating-point sums may be reordered "
            "(reassociate); less exact functions (fast_math); lower precision");
  assume = {};
  assume.fast_math = true;
  assume.precision = Precision::any;
  EXPECT_NE(grants_text(assume).find("not granted: nothing"), std::string::npos);
}

TEST(ProblemText, LaunchIsInTheFormOfAnAnswer) {
  const Problem problem = sample::problem();
  const std::string text = launch_text(problem.launch, "sgemm");
  EXPECT_EQ(text,
            R"x({"block": [32, 8, 1], "grid": ["cdiv(M, bx)", "cdiv(N, by)", "1"], "smem": "0"})x");
  const auto change = read_launch_change(text);
  ASSERT_TRUE(change) << change.error().message;
  EXPECT_EQ(changed_plan(problem.launch, "sgemm", *change), problem.launch);
  EXPECT_EQ(launch_text(problem.launch, "other"), "");
}

TEST(ProblemText, OtherLaunchesAreShownWhenThereAreSome) {
  LaunchPlan plan = sample::problem().launch;
  EXPECT_EQ(other_launches_text(plan, "sgemm"), "");
  plan.launches.push_back(plan.launches[0]);
  plan.launches[1].kernel = "scale";
  const std::string text = other_launches_text(plan, "sgemm");
  EXPECT_NE(text.find("smem(0)   <- the one to change\nscale grid("), std::string::npos) << text;
}

TEST(ProblemText, DeviceLeavesOutWhatIsNotKnown) {
  EXPECT_EQ(device_text({.name = "x", .architecture = "sm_80", .sm_count = 108}),
            "x (sm_80), 108 SMs");
}

TEST(ProblemText, TimeSaysWhetherItWasMeasured) {
  Evaluation evaluation = sample::evaluation();
  EXPECT_EQ(evaluation_time_text(evaluation), "272 ms predicted, between 190 ms and 353 ms");
  evaluation.time.method = TimeMethod::measured;
  EXPECT_NE(evaluation_time_text(evaluation).find("272 ms measured"), std::string::npos);
  evaluation.verdict = Verdict::wrong_result;
  EXPECT_EQ(evaluation_time_text(evaluation), "");
}

}  // namespace
}  // namespace regraph::llm::problem_text_test
