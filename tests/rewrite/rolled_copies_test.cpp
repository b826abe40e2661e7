// What a thread does for several elements, written out by hand.
#include "rewrite/forms/rolled_copies.h"

#include "rewrite/step_checks.h"

namespace regraph::test::rolled_copies_test {
namespace {

// The kernel with copies as loops, which must be correct.
std::string rolled(const std::string& body) {
  const auto kernel = KernelCase::make(
      "__global__ void f(const float* a, float* b, int n, int m) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) {\n" +
          body + "\n  }\n}",
      "sizes: {n: 64, m: 8}\nargs:\n  a: {dir: in, shape: [n, m]}\n  b: {dir: inout, shape: [n, "
      "m]}\nlaunch: {block: 64, grid: 'cdiv(n, bx)'}\ntests: [{n: 64, m: 5}, {n: 37, m: 8}, {n: "
      "5, m: 4}]\n");
  EXPECT_TRUE(kernel.ok()) << (kernel.ok() ? "" : kernel.error().message) << body;
  if (!kernel.ok()) return "";
  rewrite::KernelState state = (*kernel)->original();
  state.unit.kernel.body = rewrite::with_copies_rolled(state.unit.kernel);
  EXPECT_EQ((*kernel)->verdict(state), "correct") << source::print(state.unit);
  return source::print(state.unit);
}

TEST(RolledCopies, AreALoop) {
  for (const char* body : {
           "b[i * m] = a[i * m];\nb[i * m + 1] = a[i * m + 1];\nb[i * m + 2] = a[i * m + 2];",
           // Guards, names of their own, another pace.
           "int p = i * m;\nint q = p + 1;\nint r = p + 2;\nint s = p + 3;\n"
           "if (p < n * m) {\n  float t = a[p];\n  b[p] = t * t;\n}\n"
           "if (q < n * m) {\n  float u = a[q];\n  b[q] = u * u;\n}\n"
           "if (r < n * m) {\n  float v = a[r];\n  b[r] = v * v;\n}\n"
           "if (s < n * m) {\n  float w = a[s];\n  b[s] = w * w;\n}",
           // Several statements each, whose names stand in each other's indices.
           "int p = i * m + 3;\nb[p] = a[p] + 1.0f;\nint q = i * m + 2;\nb[q] = a[q] + 1.0f;\n"
           "int r = i * m + 1;\nb[r] = a[r] + 1.0f;\n",
           // A sum.
           "float s = 0.0f;\ns += a[i * m] * 2.0f;\ns += a[i * m + 1] * 2.0f;\n"
           "s += a[i * m + 2] * 2.0f;\ns += a[i * m + 3] * 2.0f;\nb[i * m] = s;",
       }) {
    const std::string code = rolled(body);
    EXPECT_NE(code.find("for (int k = 0; k < "), std::string::npos) << code;
  }
}

TEST(RolledCopies, OthersStay) {
  for (const char* body : {
           // Two, in one line, at other places, of another operation.
           "b[i * m] = a[i * m];\nb[i * m + 1] = a[i * m + 1];",
           "b[i * m] = a[i * m]; b[i * m + 1] = a[i * m + 1]; b[i * m + 2] = a[i * m + 2];",
           "b[i * m] = a[i * m];\nb[i * m + 1] = a[i * m + 1];\nb[i * m + 3] = a[i * m + 3];",
           "b[i * m] = a[i * m];\nb[i * m + 1] = a[i * m + 1];\nb[i * m + 2] = -a[i * m + 2];",
           // The same place again and again, names that are used afterwards, other numbers.
           "b[i * m] += a[i * m];\nb[i * m] += a[i * m];\nb[i * m] += a[i * m];",
           "float t = a[i * m];\nfloat u = a[i * m + 1];\nfloat v = a[i * m + 2];\nb[i * m] = t + "
           "u * "
           "v;",
           "float s = 0.0f;\ns += a[i * m] * 1.0f;\ns += a[i * m + 1] * 2.0f;\ns += a[i * m + 2] * "
           "3.0f;\nb[i * m] = s;",
           // In a loop.
           "for (int k = 0; k < 1; ++k) {\nb[i * m] = a[i * m];\nb[i * m + 1] = a[i * m + 1];\nb[i "
           "* m "
           "+ 2] = a[i * m + 2];\n}",
       }) {
    const std::string code = rolled(body);
    EXPECT_EQ(code.find("; k < 3"), std::string::npos) << code;
    EXPECT_EQ(code.find("; k < 2"), std::string::npos) << code;
  }
}

TEST(RolledCopies, AreDealtOutToThreads) {
  const auto kernel = sample("four_bins_a_thread");
  ASSERT_NE(kernel, nullptr);
  const auto state = expect_correct(*kernel, {{"parallel_loop", {{"axis", "x"}, {"loop", "1"}}}});
  // A thread for each element, and none beyond: the atomic stands under the guard.
  EXPECT_EQ(state.plan.launches.front().grid[0].text(), "cdiv(n, bx)");
  const auto vectors =
      expect_correct(*kernel, {{"atomic_privatize", {{"copies", "2"}, {"rounds", "64"}}}});
  EXPECT_NE(source::print(vectors.unit).find("uchar4"), std::string::npos)
      << source::print(vectors.unit);
}

}  // namespace
}  // namespace regraph::test::rolled_copies_test
