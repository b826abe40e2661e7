// Loops that were unrolled by hand.
#include "rewrite/forms/rerolling.h"

#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/step_checks.h"

namespace regraph::test::rerolling_test {
namespace {

// The kernel as steps see it; what comes of it must be correct.
std::string seen(const std::string& body, const std::string& assume = "") {
  const auto kernel = KernelCase::make(
      "__global__ void f(const float* a, float* b, int* c, int n, int m) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
      "  float s = 0.0f;\n" +
          body + "\n}",
      "sizes: {n: 64, m: 32}\nargs:\n  a: {dir: in, shape: [n, m]}\n"
      "  b: {dir: inout, shape: [n, m]}\n  c: {dir: inout, shape: [n, m]}\n"
      "launch: {block: 64, grid: 'cdiv(n, bx)'}\n"
      "tests: [{n: 64, m: 13}, {n: 37, m: 16}, {n: 5, m: 2}]\n" +
          assume);
  EXPECT_TRUE(kernel.ok()) << (kernel.ok() ? "" : kernel.error().message) << body;
  if (!kernel.ok()) return "";
  rewrite::KernelState state = (*kernel)->original();
  const rewrite::KernelAnalysis analysis = (*kernel)->analysis((*kernel)->original());
  state.unit.kernel = analysis.kernel();
  EXPECT_EQ((*kernel)->verdict(state), "correct") << source::print(state.unit);
  return source::print(state.unit);
}

int loops_in(const std::string& text) {
  int loops = 0;
  for (std::size_t at = text.find("for ("); at != std::string::npos;
       at = text.find("for (", at + 1))
    ++loops;
  return loops;
}

TEST(RerolledLoops, AreOneLoop) {
  for (const std::string& body : std::vector<std::string>{
           R"(int k = 0; for (; k + 3 < m; k += 4) { s += a[i * m + k]; s += a[i * m + k +
             1]; s += a[i * m + k + 2]; s += a[i * m + k + 3]; } for (; k < m; ++k) s +=
             a[i * m + k]; b[i * m] = s;)",
           R"(int k; for (k = 0; k <= m - 2; k += 2) { s = s + a[k + i * m]; s = a[i * m +
             (k + 1)] + s; } for (; k < m; ++k) s += a[i * m + k]; b[i * m] = s;)",
           R"(int k = 0; while (k < m / 2 * 2) { float t = a[i * m + k], u = a[i * m + k +
             1]; s += t; s += u; k += 2; } for (; k < m; ++k) s += a[i * m + k]; b[i * m] =
             s;)",
           R"(int k = 0; for (; k < (m & ~1); k += 2) { s += a[i * m + k]; s += a[i * m + k
             + 1]; } for (; k < m; ++k) s += a[i * m + k]; b[i * m] = s;)",
           // Another order of what may be done in any.
           R"(int k = 0; int p = 0; for (; k + 1 < m; k += 2) { s += a[i * m + k]; s += a[i
             * m + k + 1]; p += k; p += k + 1; } for (; k < m; ++k) { s += a[i * m + k]; p
             += k; } b[i * m] = s; c[i * m] = p;)",
           // One expression for a group.
           R"(int k = 0; for (; k + 1 < m; k += 2) s += a[i * m + k] + a[i * m + k + 1]; for
             (; k < m; ++k) s += a[i * m + k]; b[i * m] = s;)",
           // Counters of their own.
           R"(int end = m / 2 * 2; for (int k = 0; k < end; k += 2) { s += a[i * m + k]; s
             += a[i * m + k + 1]; } for (int j = end; j < m; ++j) s += a[i * m + j]; b[i *
             m] = s;)",
           R"(for (int k = 0; k < m / 4; ++k) { s += a[i * m + 4 * k]; s += a[i * m + 4 * k
             + 1]; s += a[i * m + 4 * k + 2]; s += a[i * m + 4 * k + 3]; } for (int j = m -
             m % 4; j < m; ++j) s += a[i * m + j]; b[i * m] = s;)",
           // Elements.
           R"(int k = 0; for (; k + 1 < m; k += 2) { float t = a[i * m + k], u = a[i * m + k
             + 1]; b[i * m + k] = t * t; b[i * m + k + 1] = u * u; } for (; k < m; ++k) {
             float t = a[i * m + k]; b[i * m + k] = t * t; })",
           R"(int k = 0; for (; k + 1 < m; k += 2) { float t = b[i * m + k], u = b[i * m + k
             + 1]; b[i * m + k] = t * 2.0f; b[i * m + k + 1] = u * 2.0f; } for (; k < m;
             ++k) b[i * m + k] = b[i * m + k] * 2.0f;)",
           R"(int k = 0; for (; k + 1 < m; k += 2) { if (a[i * m + k] > 0.0f) s += a[i * m +
             k]; if (a[i * m + k + 1] > 0.0f) s += a[i * m + k + 1]; } for (; k < m; ++k) {
             if (a[i * m + k] > 0.0f) s += a[i * m + k]; } b[i * m] = s;)",
           // The counter is needed afterwards.
           R"(int k = 0; for (; k + 1 < m; k += 2) { s += a[i * m + k]; s += a[i * m + k +
             1]; } for (; k < m; ++k) s += a[i * m + k]; b[i * m] = s + k;)",
           // Threads that share a row.
           R"(int k = threadIdx.x; for (; k + blockDim.x < m; k += 2 * blockDim.x) { s +=
             a[k]; s += a[k + blockDim.x]; } for (; k < m; k += blockDim.x) s += a[k]; b[i
             * m] = s;)",
       }) {
    EXPECT_EQ(loops_in(seen(body)), 1) << body << seen(body);
  }
}

TEST(RerolledLoops, SumTheirPartsInOne) {
  for (const std::string& body : std::vector<std::string>{
           R"(float p = 0.0f, q = 0.0f; int k = 0; for (; k + 1 < m; k += 2) { p += a[i * m
             + k]; q += a[i * m + k + 1]; } float t = p + q; for (; k < m; ++k) t += a[i *
             m + k]; b[i * m] = t;)",
           R"(float p = 0.0f, q = 0.0f; int k = 0; for (; k + 1 < m; k += 2) { p += a[i * m
             + k]; q += a[i * m + k + 1]; } s = p + q; for (; k < m; ++k) s += a[i * m +
             k]; b[i * m] = s;)",
           R"(float p = 0.0f, q = 0.0f; int k = 0; for (; k + 1 < m; k += 2) { p += a[i * m
             + k]; q += a[i * m + k + 1]; } s += p + q; for (; k < m; ++k) s += a[i * m +
             k]; b[i * m] = s;)",
           R"(float p = 0.0f, q = 0.0f; int k = 0; for (; k + 1 < m; k += 2) { p += a[i * m
             + k]; q += a[i * m + k + 1]; } for (; k < m; ++k) p += a[i * m + k]; b[i * m]
             = (p + q) / m;)",
           R"(float p = 0.0f, q = 0.0f; int k = 0; for (; k + 1 < m; k += 2) { p += a[i * m
             + k]; q += a[i * m + k + 1]; } for (; k < m; ++k) q += a[i * m + k]; if (i <
             7) b[i * m] = p + q;)"}) {
    EXPECT_EQ(loops_in(seen(body)), 1) << body << seen(body);
    EXPECT_EQ(loops_in(seen(body, "assume: {reassociate: false}\n")), 2) << body;
  }
}

TEST(RerolledLoops, OthersStay) {
  for (const std::string& body : std::vector<std::string>{
           // Other elements, another operation, another number of copies.
           R"(int k = 0; for (; k + 1 < m; k += 2) { s += a[i * m + k]; s += a[i * m]; } for
             (; k < m; ++k) s += a[i * m + k]; b[i * m] = s;)",
           R"(int k = 0; for (; k + 1 < m; k += 2) { s += a[i * m + k]; s -= a[i * m + k +
             1]; } for (; k < m; ++k) s += a[i * m + k]; b[i * m] = s;)",
           R"(int k = 0; for (; k + 3 < m; k += 4) { s += a[i * m + k]; s += a[i * m + k +
             1]; } for (; k < m; ++k) s += a[i * m + k]; b[i * m] = s;)",
           // The rest has another limit, or begins elsewhere.
           R"(int k = 0; for (; k + 1 < m; k += 2) { s += a[i * m + k]; s += a[i * m + k +
             1]; } for (; k < m - 1; ++k) s += a[i * m + k]; b[i * m] = s;)",
           R"(for (int k = 0; k < m / 2 * 2; k += 2) { s += a[i * m + k]; s += a[i * m + k +
             1]; } for (int k = m / 2; k < m; ++k) s += a[i * m + k]; b[i * m] = s;)",
           R"(int k = 1; for (; k < m / 2 * 2 - 1; k += 2) { s += a[i * m + k]; s += a[i * m
             + k + 1]; } for (; k < m; ++k) s += a[i * m + k]; b[i * m] = s;)",
           // What one iteration does is seen by the next.
           R"(int k = 0; for (; k + 2 < m; k += 2) { float t = b[i * m + k], u = b[i * m + k
             + 1]; b[i * m + k + 1] = t; b[i * m + k + 2] = u; } for (; k + 1 < m; ++k) b[i
             * m + k + 1] = b[i * m + k];)",
           R"(int k = 0; int p = 1; for (; k + 1 < m; k += 2) { p += k; p += k + 1; p *= 3;
             p *= 3; } for (; k < m; ++k) { p += k; p *= 3; } c[i * m] = p;)",
       }) {
    EXPECT_EQ(loops_in(seen(body)), 2) << body << seen(body);
  }
  // Buffers may be the same.
  EXPECT_EQ(
      loops_in(seen("int k = 0; for (; k + 1 < m; k += 2) { float t = a[i * m + k], u = a[i * m "
                    "+ k + 1]; b[i * m + k] = t; b[i * m + k + 1] = u; }"
                    " for (; k < m; ++k) { b[i * m + k] = a[i * m + k]; }",
                    "assume: {noalias: false}\n")),
      2);
  // Partial sums that are looked at before they are added up.
  EXPECT_EQ(loops_in(seen("float p = 0.0f, q = 0.0f; int k = 0; for (; k + 1 < m; k += 2) {"
                          " p += a[i * m + k]; q += a[i * m + k + 1] * p; }"
                          " float t = p + q; for (; k < m; ++k) t += a[i * m + k]; b[i * m] = t;")),
            2);
}

}  // namespace
}  // namespace regraph::test::rerolling_test
