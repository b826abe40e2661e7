// Loops that count from where a thread's own elements begin.
#include "rewrite/forms/rebased_counters.h"

#include "rewrite/step_checks.h"

namespace regraph::test::rebased_counters_test {
namespace {

std::string rebased(const std::string& loop) {
  const auto kernel = KernelCase::make(
      "__global__ void f(const float* a, float* b, int n, int m, int w) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n  float s = "
      "0.0f;\n  " +
          loop + "\n  b[i] = s;\n}",
      "sizes: {n: 64, m: 32}\nargs:\n  a: {dir: in, shape: [n + 8, m]}\n  b: {dir: out, shape: "
      "[n]}\n"
      "  w: 5\nlaunch: {block: 64, grid: 'cdiv(n, bx)'}\n");
  EXPECT_TRUE(kernel.ok()) << (kernel.ok() ? "" : kernel.error().message);
  if (!kernel.ok()) return "";
  return source::print(rewrite::with_rebased_counters((*kernel)->original().unit.kernel), 0);
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(RebasedCounters, BeginAtZero) {
  const std::string row = rebased("for (int at = i * m; at < i * m + m; ++at) s += a[at];");
  EXPECT_TRUE(holds(row, "for (int k = 0; k < m; ++k)")) << row;
  EXPECT_TRUE(holds(row, "const int at = i * m + k;")) << row;
  const std::string named = rebased(
      "int at0 = i * m; int end = at0 + 8; for (int at = at0; at < end; at += 2) s += a[at];");
  EXPECT_TRUE(holds(named, "for (int k = 0; k < 8; k += 2)")) << named;
  // What is not in common stays in the header.
  const std::string shared =
      rebased("for (int at = i * m + w; at < i * m + m; at += 4) s += a[at];");
  EXPECT_TRUE(holds(shared, "for (int k = w; k < m; k += 4)")) << shared;
}

TEST(RebasedCounters, OthersStay) {
  for (const char* loop : {
           "for (int at = i; at < m; ++at) s += a[at];",      // nothing in common
           "for (int at = w; at < w + m; ++at) s += a[at];",  // the same for all threads
           "for (unsigned at = i * m; at < i * m + m; ++at) s += a[at];",
           "for (int at = i * m; at < i * m + m; ++at) { s += a[at]; at += 1; }",
           "for (int at = i * m; at < i * m + m * w; ++at) s += a[at];",  // not a number of things
           "int row = i; for (int at = row * m; at < row * m + m; ++at) { s += a[at]; row += 0; }",
       }) {
    EXPECT_FALSE(holds(rebased(loop), "int k = ")) << loop << rebased(loop);
  }
}

}  // namespace
}  // namespace regraph::test::rebased_counters_test
