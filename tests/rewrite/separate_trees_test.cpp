// Trees over several shared arrays, taken apart.
#include "rewrite/forms/separate_trees.h"

#include "rewrite/step_checks.h"

namespace regraph::test::separate_trees_test {
namespace {

struct Rounds {
  std::string fills = "sums[t] = sum; squares[t] = square;";
  std::string update = "sums[t] += sums[t + d]; squares[t] += squares[t + d];";
  std::string guard = "t < d";
};

// Sums of a row and of its squares, a block a row.
std::unique_ptr<KernelCase> moments(const Rounds& rounds) {
  auto made = KernelCase::make(
      "__global__ void f(const float* x, float* first, float* second, int n, int m) {\n"
      "  __shared__ float sums[64];\n  __shared__ float squares[64];\n"
      "  int t = threadIdx.x;\n  float sum = 0.0f, square = 0.0f;\n"
      "  for (int c = t; c < m; c += blockDim.x) {\n"
      "    float v = x[blockIdx.x * m + c];\n    sum += v;\n    square += v * v;\n  }\n  " +
          rounds.fills +
          "\n  __syncthreads();\n"
          "  for (int d = blockDim.x / 2; d > 0; d >>= 1) {\n    if (" +
          rounds.guard + ") { " + rounds.update +
          " }\n    __syncthreads();\n  }\n"
          "  if (t == 0) { first[blockIdx.x] = sums[0]; second[blockIdx.x] = squares[0]; }\n}",
      "sizes: {n: 64, m: 640}\n"
      "args: {x: {dir: in, shape: [n, m]}, first: {dir: out, shape: [n]},\n"
      "       second: {dir: out, shape: [n]}}\n"
      "launch: {block: 64, grid: n}\n"
      "tests: [{n: 50, m: 133}, {n: 3, m: 640}, {n: 2, m: 1}]\n");
  EXPECT_TRUE(made.ok()) << made.error().message;
  return made.ok() ? std::move(*made) : nullptr;
}

// Empty: it stays.
std::string separate(const KernelCase& kernel) {
  const auto apart = rewrite::with_separate_trees(kernel.original().unit.kernel);
  return apart ? source::print(apart->body, 0) : "";
}

TEST(SeparateTrees, FollowOneAnother) {
  const auto kernel = moments({});
  ASSERT_NE(kernel, nullptr);
  const std::string text = separate(*kernel);
  EXPECT_NE(text.find("sums[t] = sum;\n__syncthreads();\nfor (int d = blockDim.x / 2; d > 0; "
                      "d >>= 1) {\n  if (t < d) {\n    sums[t] += sums[t + d];\n  }\n"
                      "  __syncthreads();\n}\nsquares[t] = square;\n__syncthreads();\nfor ("),
            std::string::npos)
      << text;
}

const Application kFourRowsABlock = {"row_kernel",
                                     {{"threads", "32"}, {"rows", "4"}, {"width", "1"}}};

TEST(SeparateTrees, RowsOfSeveralSumsAreLaidOutAnew) {
  for (const Rounds& rounds :
       {Rounds(), Rounds{.fills = "squares[t] = square; sums[t] = sum;"},
        Rounds{.update = "squares[t] = squares[t] + squares[t + d]; sums[t] += sums[t + d];"}}) {
    const auto kernel = moments(rounds);
    ASSERT_NE(kernel, nullptr);
    const auto state = expect_correct(*kernel, {kFourRowsABlock});
    EXPECT_NE(source::print(state.unit).find("__shfl_xor_sync"), std::string::npos);
  }
}

TEST(SeparateTrees, EachGoesOnAsItsThreadsAddedUp) {
  const auto kernel = moments(
      {.update = "sums[t] += sums[t + d]; squares[t] = fmaxf(squares[t], squares[t + d]);"});
  ASSERT_NE(kernel, nullptr);
  expect_refusal(*kernel, kFourRowsABlock, "the tree does not go on as 'square' was added up");
}

TEST(SeparateTrees, RoundsThatShareSomethingStay) {
  for (const Rounds& rounds :
       {Rounds{.update = "sums[t] += sums[t + d]; squares[t] += sums[t + d];"},
        Rounds{.update = "sums[t] += sums[t + d]; sums[t] *= 0.5f;"},
        // By another name.
        Rounds{.fills = "float* own = squares; sums[t] = sum; own[t] = square;"}}) {
    const auto kernel = moments(rounds);
    ASSERT_NE(kernel, nullptr);
    EXPECT_EQ(separate(*kernel), "");
  }
}

TEST(SeparateTrees, FillsThatReadAnArrayStayBeforeTheRounds) {
  const auto kernel = moments({.fills = "sums[t] = sum; squares[t] = square + sums[t];"});
  ASSERT_NE(kernel, nullptr);
  const std::string text = separate(*kernel);
  EXPECT_NE(text.find("sums[t] = sum;\nsquares[t] = square + sums[t];\n__syncthreads();\nfor ("),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace regraph::test::separate_trees_test
