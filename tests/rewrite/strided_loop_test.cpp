// strided_loop: only iterations that a test for divisibility lets through.
#include "rewrite/step_checks.h"

#include <fmt/format.h>

namespace regraph::test::strided_loop_test {
namespace {

const Application kStrided = {"strided_loop", {}};

TEST(StridedLoop, TakesTheTapsOfAnOutputAlone) {
  const auto layer = sample("upsampled_layer");
  ASSERT_NE(layer, nullptr);
  const auto state = expect_correct(*layer, {kStrided});
  const std::string text = source::print(state.unit);
  EXPECT_NE(text.find("for (int i = (y + 1) % 2; i < 5; i += 2)"), std::string::npos) << text;
  // 2 j = x - 2 (mod 3), so j = 2 (x - 2); which is negative at the left border.
  EXPECT_NE(text.find("for (int j = ((x - 2) % 3 * 2 % 3 + 3) % 3; j < 4; j += 3)"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("== 0"), std::string::npos) << text;
  EXPECT_TRUE(state.assumptions.empty());
  expect_refusal(*layer, state, kStrided, "no loop does all it does under a test");
}

// A kernel that adds up in[k] under what `guard` asks, after `before`.
std::unique_ptr<KernelCase> summing(const std::string& loop, const std::string& before,
                                    const std::string& guard) {
  const std::string source = fmt::format(R"~(
__global__ void k(const float* in, float* out, int n, int m) {{
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < n) {{
    float sum = 0.0f;
    for ({}) {{
      {}
      if ({}) sum += in[k] * (float)(k + 1);
    }}
    out[x] = sum;
  }}
}})~",
                                         loop, before, guard);
  auto made = KernelCase::make(source, R"~(
sizes: {n: 4096, m: 64}
args: {in: {dir: in, shape: [m]}, out: {dir: out, shape: [n]}}
launch: {block: 128, grid: "cdiv(n, bx)"}
tests: [{n: 300, m: 37}]
assume: {noalias: true}
)~");
  EXPECT_TRUE(made.ok()) << made.error().message;
  return made.ok() ? std::move(*made) : nullptr;
}

TEST(StridedLoop, BeginsWhereTheFirstOneIs) {
  struct Form {
    const char* loop;
    const char* before;
    const char* guard;
    const char* becomes;
  };
  const Form forms[] = {
      {"int k = 0; k < m; ++k", "", "(x + k) % 5 == 0", "int k = x % 5 * 4 % 5; k < m; k += 5"},
      {"int k = 0; k < m; ++k", "", "0 == (x - k) % 7", "int k = x % 7; k < m; k += 7"},
      {"int k = 3; k < m; ++k", "", "(x - k) % 7 == 0",
       "int k = 3 + ((x - 3) % 7 + 7) % 7; k < m; k += 7"},
      {"int k = 0; k < m; ++k", "int d = 4 * k - x;", "d % 9 == 0 && k != x",
       "int k = ((0 - x) % 9 * 2 % 9 + 9) % 9; k < m; k += 9"},
      {"int k = 0; k < m; ++k", "float v = in[k] + 1.0f;", "k % 2 == 0 && v > 0.5f",
       "int k = 0; k < m; k += 2"},
      {"int k = 1; k < m; ++k", "", "k % 2 == 0", "int k = 2; k < m; k += 2"},
      // Numbers without signs that are given to an int.
      {"int k = 0; k < m; ++k", "int d = threadIdx.x - 2 - k;", "d % 3 == 0",
       "int k = ((int)(threadIdx.x - 2) % 3 + 3) % 3; k < m; k += 3"},
      {"int k = threadIdx.x; k < m; ++k", "", "(k - 300) % 3 == 0",
       "int k = threadIdx.x + (((int)threadIdx.x - 300) % 3 * 2 % 3 + 3) % 3; k < m; k += 3"},
      // Some for even x only.
      {"int k = 0; k < m; ++k", "", "(x + 2 * k) % 4 == 0", "int k = x / 2 % 2; k < m; k += 2"},
      {"int k = 1; k < m; ++k", "", "(x - 9 - 6 * k) % 15 == 0",
       "int k = 1 + ((x - 9 - 6) / 3 % 5 * 3 % 5 + 5) % 5; k < m; k += 5"},
      // All or none.
      {"int k = 0; k < m; ++k", "", "(x - 6 * k) % 3 == 0",
       "if (x % 3 == 0) {\n      for (int k = 0; k < m; ++k)"},
  };
  for (const Form& form : forms) {
    SCOPED_TRACE(form.guard);
    const auto kernel = summing(form.loop, form.before, form.guard);
    ASSERT_NE(kernel, nullptr);
    const std::string text = source::print(expect_correct(*kernel, {kStrided}).unit);
    EXPECT_NE(text.find(form.becomes), std::string::npos) << text;
  }
}

TEST(StridedLoop, RefusesWhatOtherIterationsDo) {
  struct Form {
    const char* loop;
    const char* before;
    const char* guard;
  };
  const Form forms[] = {
      // Something is done in all iterations.
      {"int k = 0; k < m; ++k", "sum += 1.0f;", "k % 2 == 0"},
      // What is divided is not linear, or has no sign.
      {"int k = 0; k < m; ++k", "", "(x + k * k) % 5 == 0"},
      {"int k = 0; k < m; ++k", "", "(unsigned)(x - k) % 3u == 0"},
      // Divisors that are no constants, and other orders.
      {"int k = 0; k < m; ++k", "", "(x + k) % m == 0"},
      {"int k = 0; k < m; ++k", "", "(x + k) % 5 == 1"},
      {"int k = 0; k < m; ++k", "", "(x + k) % 5 == 0 || k == 3"},
      // Wraps round in 8 bits, or 32.
      {"int k = 0; k < m; ++k", "unsigned char d = x - k;", "d % 3 == 0"},
      {"int k = 0; k < m; ++k", "long long d = threadIdx.x - 2 - k;", "d % 3 == 0"},
      // Tests that let different iterations through.
      {"int k = 0; k < m; k += 2", "", "(x + k) % 5 == 0"},
      // A test that changes as the loop goes on.
      {"int k = 0; k < m; ++k", "int d = (int)sum;", "(d + k) % 5 == 0"},
  };
  for (const Form& form : forms) {
    SCOPED_TRACE(std::string(form.before) + form.guard);
    const auto kernel = summing(form.loop, form.before, form.guard);
    ASSERT_NE(kernel, nullptr);
    expect_refusal(*kernel, kStrided, "no loop does all it does under a test");
  }
}

TEST(StridedLoop, RefusesWarpsThatWorkTogether) {
  const auto kernel = summing("int k = 0; k < m; ++k", "float v = __shfl_sync(~0u, sum, 0);",
                              "k % 2 == 0 && v < 1e9f");
  ASSERT_NE(kernel, nullptr);
  expect_refusal(*kernel, kStrided, "the threads of a warp work together");
}

}  // namespace
}  // namespace regraph::test::strided_loop_test
