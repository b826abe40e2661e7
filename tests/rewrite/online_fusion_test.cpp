// The largest value and the sums that it scales, in one loop.
#include "rewrite/step_checks.h"

namespace regraph::test::online_fusion_test {
namespace {

const Application kFuse = {"online_fusion", {{"form", "online"}}};

// A thread a row of x; the loops are the test's.
struct Passes {
  std::string start = "float m = -INFINITY;";
  std::string largest = "for (int c = 0; c < n; ++c) m = fmaxf(m, x[i * n + c]);";
  std::string between = "float sum = 0.0f;";
  std::string sums = "for (int c = 0; c < n; ++c) sum += expf(x[i * n + c] - m);";
  std::string after = "y[i] = m + logf(sum);";
  std::string assume = "{noalias: true, reassociate: true}";
};

std::unique_ptr<KernelCase> kernel_of(const Passes& passes) {
  auto made = KernelCase::make(
      "__global__ void f(const float* x, const float* w, float* y, int rows, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < rows) {\n" +
          passes.start + "\n" + passes.largest + "\n" + passes.between + "\n" + passes.sums + "\n" +
          passes.after + "\n  }\n}",
      "sizes: {rows: 640, n: 64}\nargs: {x: {dir: in, shape: [rows, n], init: normal}, w: {dir: "
      "in, shape: [n], init: normal}, y: {dir: inout, shape: [rows]}}\n"
      "launch: {block: 32, grid: 'cdiv(rows, bx)'}\nassume: " +
          passes.assume + "\ntests: [{rows: 37, n: 9}, {rows: 64, n: 2}, {rows: 5, n: 1}]\n");
  EXPECT_TRUE(made.ok()) << made.error().message;
  return made.ok() ? std::move(*made) : nullptr;
}

std::string fused(const Passes& passes) {
  const auto kernel = kernel_of(passes);
  return kernel != nullptr ? source::print(expect_correct(*kernel, {kFuse}).unit) : "";
}

void expect_apart(const Passes& passes, const std::string& reason) {
  const auto kernel = kernel_of(passes);
  ASSERT_NE(kernel, nullptr);
  expect_refusal(*kernel, kFuse, reason);
}

int loops_in(const std::string& code) {
  int found = 0;
  for (std::size_t at = code.find("for ("); at != std::string::npos;
       at = code.find("for (", at + 1))
    ++found;
  return found;
}

TEST(OnlineFusion, MakesOneLoop) {
  const std::string code = fused({});
  EXPECT_EQ(loops_in(code), 1) << code;
  expect_text(code, "const float m_candidate = x[i * n + c];");
  expect_text(code, "if (m_candidate > m) {");
  expect_text(code, "const float m_scale = expf(m - m_candidate);");
  expect_text(code, "sum *= m_scale;");
  expect_text(code, "m = fmaxf(m, m_candidate);");
  expect_text(code, "sum += expf(m_candidate - m_finite);");
  expect_text(code, "if (0 < n && m == -INFINITY)");
}

TEST(OnlineFusion, AsksForNoInfinityWhereThereIsNone) {
  const std::string code = fused({.start = "float m = -1e30f;"});
  expect_no_text(code, "INFINITY");
  expect_text(code, "sum += expf(m_candidate - m);");
}

TEST(OnlineFusion, TakesAttention) {
  for (const char* name : {"attention_rows", "attention_pointers"}) {
    SCOPED_TRACE(name);
    const auto kernel = sample(name);
    ASSERT_NE(kernel, nullptr);
    const auto state = expect_correct(*kernel, {{"scalar_replacement", {{"rows", "all"}}}, kFuse});
    const std::string code = source::print(state.unit);
    expect_text(code, "*= ");
    // A score is computed once.
    EXPECT_EQ(code.find("query_row[", code.find("for (int t")), code.rfind("query_row[")) << code;
    // The output in memory cannot be scaled.
    expect_refusal(*kernel, kFuse, "the second loop writes 'out'");
  }
}

TEST(OnlineFusion, StartsFromTheFirstElement) {
  const auto kernel = sample("log_sum_exp");
  ASSERT_NE(kernel, nullptr);
  const std::string code = source::print(expect_correct(*kernel, {kFuse}).unit);
  EXPECT_EQ(loops_in(code), 1) << code;
  expect_apart({.start = "float m = x[i * n + 1 % n];",
                .largest = "for (int c = 1; c < n; ++c) m = fmaxf(m, x[i * n + c]);"},
               "it does not run over what 'm' is the largest of");
}

TEST(OnlineFusion, WeighsMinusInfinityAsNothing) {
  const auto kernel = sample("masked_means");
  ASSERT_NE(kernel, nullptr);
  const std::string code = source::print(expect_correct(*kernel, {kFuse}).unit);
  expect_text(code, "best == -INFINITY ? 0.0 : best");
  expect_text(code, "total *= best_scale;");
}

TEST(OnlineFusion, LeavesRowsToSoftmax) {
  const auto kernel = sample("softmax_rows");
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(loops_in(source::print(expect_correct(*kernel, {kFuse}).unit)), 2);
  expect_refusal(*sample("softmax_in_place"), kFuse, "the second loop writes 'y'");
}

TEST(OnlineFusion, SeesThroughNames) {
  const std::string code =
      fused({.largest = "for (int c = 0; c < n; ++c) { const float v = x[i * n + c] * 0.5f;\n"
                        "  const float u = v + w[c]; m = u > m ? u : m; }",
             .sums = "for (int k = 0; k < n; ++k) { const float part = x[i * n + k] * 0.5f;\n"
                     "  float e = expf(part + w[k] - m); sum += e; }"});
  EXPECT_EQ(loops_in(code), 1) << code;
}

TEST(OnlineFusion, ScalesSumsOfSeveralForms) {
  fused({.between = "float sum = 0.0f, other = 0.0f, plain = 3.0f;\n float parts[2][3];\n"
                    "for (int a = 0; a < 2; ++a) for (int b = 0; b < 3; ++b) parts[a][b] = 0.0f;",
         .sums = "for (int c = 0; c < n; ++c) { const float e = expf(x[i * n + c] - m);\n"
                 "  sum = e + sum; other = other - 2.0f * (e / (1.0f + w[c] * w[c]) + e);\n"
                 "  plain += w[c];\n"
                 "  for (int a = 0; a < 2; ++a) for (int b = 0; b < 3; ++b)\n"
                 "    parts[a][b] = fmaf(w[c] + a, e, parts[a][b]) ; }",
         .after = "y[i] = m + sum + other * plain + parts[0][1] - parts[1][2];"});
  fused({.start = "float m = 0.0f;",
         .sums = "for (int c = 0; c < n; ++c) if (w[c] > 0.0f) sum += w[c] * expf(x[i * n + c] - "
                 "m);",
         .after = "y[i] = m + sum;"});
}

TEST(OnlineFusion, RefusesSumsThatCannotBeScaled) {
  expect_apart({.between = "float sum = 1.0f;"}, "'sum' does not start from zero");
  expect_apart({.between = "float sum = w[0];"}, "'sum' does not start from zero");
  expect_apart(
      {.sums = "for (int c = 0; c < n; ++c) { float e = expf(x[i * n + c] - m); sum += e * "
               "e; }"},
      "'sum' follows the largest value so far, and is no sum");
  expect_apart({.sums = "for (int c = 0; c < n; ++c) sum += expf(x[i * n + c] - m) + 1.0f;"},
               "is no sum");
  expect_apart({.sums = "for (int c = 0; c < n; ++c) { sum += expf(x[i * n + c] - m); if (sum > "
                        "1.5f) sum += 1.0f; }"},
               "'sum' is read before the loop is over");
  expect_apart({.sums = "for (int c = 0; c < n; ++c) sum = fmaxf(sum, expf(x[i * n + c] - m));"},
               "is no sum");
  expect_apart({.sums = "for (int c = 0; c < n; ++c) if (w[c] > 0.0f) sum += expf(x[i * n + c] - "
                        "m);"},
               "may be minus infinity");
}

TEST(OnlineFusion, RefusesOtherUsesOfTheLargest) {
  expect_apart({.sums = "for (int c = 0; c < n; ++c) sum += expf(x[i * n + c] - m) * m;"},
               "'m' is used otherwise than in exponentials");
  expect_apart({.sums = "for (int c = 0; c < n; ++c) { if (x[i * n + c] < m) sum += "
                        "expf(x[i * n + c] - m); }"},
               "'m' is used otherwise");
  expect_apart({.sums = "for (int c = 0; c < n; ++c) { if (expf(x[i * n + c] - m) > 0.5f) sum += "
                        "1.0f; }"},
               "a condition of the second loop follows the largest value so far");
  expect_apart({.between = "m = m * 2.0f;\n float sum = 0.0f;"}, "no loop finds the largest");
  expect_apart({.sums = "for (int c = 0; c < n; ++c) { sum += expf(x[i * n + c] - m); y[i] = "
                        "expf(x[i * n + c] - m); }"},
               "'y_value' follows the largest value so far, and is no sum");
}

TEST(OnlineFusion, RefusesOtherValues) {
  expect_apart({.sums = "for (int c = 0; c < n; ++c) sum += expf(x[i * n + c] * 0.5f - m);"},
               "what it weights is not what 'm' is the largest of");
  expect_apart({.sums = "for (int c = 0; c < n; ++c) sum += expf(x[i * n + c] - m) + "
                        "expf(w[c] - m);"},
               "it weights by exponentials of different values");
  expect_apart({.sums = "for (int c = 0; c < n - 1; ++c) sum += expf(x[i * n + c] - m);"},
               "it does not run over what 'm' is the largest of");
  expect_apart({.largest = "for (int c = 0; c < n; c += 2) m = fmaxf(m, x[i * n + c]);"},
               "it does not run over what 'm' is the largest of");
  expect_apart({.start = "float m = -INFINITY;\n float shift = 1.0f;",
                .largest = "for (int c = 0; c < n; ++c) m = fmaxf(m, x[i * n + c] + shift);",
                .sums = "for (int c = 0; c < n; ++c) { sum += expf(x[i * n + c] + shift - m); "
                        "shift += 0.5f; }"},
               "'shift' changes after it was compared");
  expect_apart({.largest = "for (int c = 0; c < n; ++c) m = fminf(m, x[i * n + c]);"},
               "no loop finds the largest");
}

TEST(OnlineFusion, RefusesWhatIsNotGranted) {
  expect_apart({.assume = "{noalias: true, reassociate: false}"}, "reassociate");
}

TEST(OnlineFusion, IsFollowedByOtherSteps) {
  const auto kernel = sample("attention_rows");
  ASSERT_NE(kernel, nullptr);
  const Application keep = {"scalar_replacement", {{"rows", "all"}}};
  expect_correct(*kernel, {keep, kFuse, {"block_size", {{"block", "64"}}}});
  expect_correct(*kernel, {keep, kFuse, {"fast_math", {{"functions", "exp_log"}}}});
  expect_refusal(*kernel, expect_correct(*kernel, {keep, kFuse}), kFuse, "no loop finds");
}

}  // namespace
}  // namespace regraph::test::online_fusion_test
