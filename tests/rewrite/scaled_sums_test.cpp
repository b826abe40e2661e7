// Sums that are scaled for every value.
#include "rewrite/forms/scaled_sums.h"

#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/step_checks.h"

namespace regraph::test::scaled_sums_test {
namespace {

// The kernel as steps see it; what comes of it must be correct.
std::string scaled(const std::string& loop, const std::string& start = "float m = -INFINITY;") {
  const auto kernel = KernelCase::make(
      "__global__ void f(const float* x, float* y, int n, int c) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n  float mix[4];\n"
      "  for (int d = 0; d < 4; ++d) mix[d] = 0.0f;\n  float l = 0.0f;\n  " +
          start + "\n  for (int t = 0; t < c; ++t) {\n    float v = x[i * c + t];\n" + loop +
          "\n  }\n  float s = l;\n  for (int d = 0; d < 4; ++d) s += mix[d];\n  y[i] = s;\n"
          "}",
      "sizes: {n: 64, c: 32}\nargs:\n  x: {dir: in, shape: [n, c], init: normal}\n"
      "  y: {dir: out, shape: [n]}\nlaunch: {block: 32, grid: 'cdiv(n, bx)'}\n"
      "tests: [{n: 64, c: 13}, {n: 37, c: 16}, {n: 5, c: 1}]\n");
  EXPECT_TRUE(kernel.ok()) << (kernel.ok() ? "" : kernel.error().message) << loop;
  if (!kernel.ok()) return "";
  rewrite::KernelState state = (*kernel)->original();
  state.unit.kernel.body = rewrite::with_scaled_sums(state.unit.kernel);
  EXPECT_EQ((*kernel)->verdict(state), "correct") << source::print(state.unit);
  return source::print(state.unit);
}

bool grows(const std::string& code) {
  return code.find("> m) {") != std::string::npos;
}

TEST(ScaledSums, AreScaledWhereTheMaximumGrows) {
  for (const char* loop : {
           "float h = fmaxf(m, v); float s = expf(m - h); float w = expf(v - h); l = l * s + w;"
           " m = h;",
           "float h = max(v, m); float w = __expf(v - h); float s = __expf(m - h);"
           " l = w + s * l; for (int d = 0; d < 4; ++d) mix[d] = mix[d] * s + w * (v + d); m = h;",
           "float h = fmaxf(m, v); float s = expf(m - h); l *= s; m = h; float w = expf(v - h);"
           " l += w;",
           "float h = fmaxf(m, v); float s = expf(m - h); float w = expf(v - h);"
           " l = fmaf(l, s, w); m = h; for (int d = 0; d < 4; ++d) mix[d] *= s;"
           " for (int d = 0; d < 4; ++d) mix[d] += w * v;",
           "float h = fmaxf(m, v * 2.0f); float s = expf(m - h); l = l * s + expf(v * 2.0f - h);"
           " m = h;",
       }) {
    const std::string code = scaled(loop);
    EXPECT_TRUE(grows(code)) << loop << code;
    EXPECT_EQ(code.find("h ="), std::string::npos) << code;
  }
}

TEST(ScaledSums, OthersStay) {
  for (const char* loop : {
           // What is scaled does not take the weight, or not always.
           "float h = fmaxf(m, v); float s = expf(m - h); l = l * s + v; m = h;",
           "float h = fmaxf(m, v); float s = expf(m - h); float w = expf(v - h); l *= s;"
           " if (t > 2) l += w; m = h;",
           "float h = fmaxf(m, v); float s = expf(m - h); float w = expf(v - h); l = l * s + w;"
           " for (int d = 0; d < 4; ++d) mix[d] *= s; for (int d = 0; d < 3; ++d) mix[d] += w; m = "
           "h;",
           // The sum is asked for on the way, or scaled twice.
           "float h = fmaxf(m, v); float s = expf(m - h); float w = expf(v - h);"
           " l = l * s + w * l; m = h;",
           "float h = fmaxf(m, v); float s = expf(m - h); float w = expf(v - h); l *= s;"
           " l = l * s + w; m = h;",
           "float h = fmaxf(m, v); float s = expf(m - h); float w = expf(v - h); l = l * s + w;"
           " for (int d = 0; d < 4; ++d) mix[0] = mix[0] * s + w; m = h;",
           // The scale or the maximum are of something else.
           "float h = fmaxf(m, v); float s = expf(v - h); float w = expf(v - h); l = l * s + w;"
           " m = h;",
           "float h = fmaxf(m, v); float s = expf(m - h); float w = expf(v - h); l = l * s + w;",
           "float h = fmaxf(m, v); float s = expf(m - h); float w = expf(v - h); l = l * s + w + s;"
           " m = h;",
           // It begins anew.
           "if (t == 3) l = 1.0f; float h = fmaxf(m, v); float s = expf(m - h);"
           " float w = expf(v - h); l = l * s + w; m = h;",
       }) {
    const std::string code = scaled(loop);
    EXPECT_FALSE(grows(code)) << loop << code;
  }
  EXPECT_FALSE(
      grows(scaled("float h = fmaxf(m, v); float s = expf(m - h); float w = expf(v - h);"
                   " l = l * s + w; m = h;",
                   "float m = x[i * c];")));
}

}  // namespace
}  // namespace regraph::test::scaled_sums_test
