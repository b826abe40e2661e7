// Sums whose terms are written out.
#include "rewrite/forms/rolled_sums.h"

#include "rewrite/step_checks.h"

namespace regraph::test::rolled_sums_test {
namespace {

// The kernel with sums as loops, which must be correct.
std::string rolled(const std::string& body) {
  const auto kernel = KernelCase::make(
      "__global__ void f(const float* a, const double* d, float* b, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) {\n" +
          body + "\n  }\n}",
      "sizes: {n: 64}\nargs:\n  a: {dir: in, shape: [n, 12]}\n  d: {dir: in, shape: [n, 12]}\n"
      "  b: {dir: inout, shape: [n]}\nlaunch: {block: 64, grid: 'cdiv(n, bx)'}\n"
      "tests: [{n: 64}, {n: 37}, {n: 5}]\n");
  EXPECT_TRUE(kernel.ok()) << (kernel.ok() ? "" : kernel.error().message) << body;
  if (!kernel.ok()) return "";
  rewrite::KernelState state = (*kernel)->original();
  state.unit.kernel.body = rewrite::with_sums_rolled(state.unit.kernel);
  EXPECT_EQ((*kernel)->verdict(state), "correct") << source::print(state.unit);
  return source::print(state.unit);
}

// term(0) + term(1) + ..., `count` of them from `first` on, each `step` behind the one before.
std::string sum_of(const std::string& before, const std::string& behind, int first, int count,
                   int step = 1) {
  std::string result;
  for (int at = 0; at < count; ++at) {
    if (at > 0) result += " + ";
    result.append(before).append(std::to_string(first + at * step)).append(behind);
  }
  return result;
}

// `declaration` with # as the number, $ as the one before, for 1 to 9.
std::string numbered(const std::string& declaration) {
  std::string result;
  for (char digit = '1'; digit <= '9'; ++digit) {
    for (const char character : declaration) {
      if (character == '#') {
        result += digit;
      } else if (character == '$') {
        result += static_cast<char>(digit - 1);
      } else {
        result += character;
      }
    }
  }
  return result;
}

void expect_loop(const std::string& body, const std::string& round, int rounds) {
  const std::string code = rolled(body);
  EXPECT_NE(code.find("k < " + std::to_string(rounds) + "; ++k"), std::string::npos) << code;
  EXPECT_NE(code.find(round), std::string::npos) << code;
}

TEST(RolledSums, AreALoop) {
  expect_loop("b[i] = " + sum_of("a[i * 12 + ", "]", 0, 12) + ";", "sum += a[i * 12 + 0 + k];", 12);
  expect_loop("float s = " + sum_of("a[i * 12 + ", "] * 2.0f", 11, 9, -1) + ";\nb[i] = s;",
              "sum += a[i * 12 + 11 + k * -1] * 2.0f;", 9);
  // Added to something else, and something else to it.
  expect_loop("b[i] = -(b[i] + " + sum_of("a[i * 12 + ", "]", 1, 8) + " + 3.0f) * 0.5f;",
              "float sum = b[i];", 8);
  expect_loop("double s = " + sum_of("d[i * 12 + ", "]", 0, 8) + ";\nb[i] = s;",
              "double sum = -0.0;", 8);
}

TEST(RolledSums, GoThroughNames) {
  const std::string first = "float t0 = a[i * 12];\n";
  for (const char* next :
       {"float t# = t$ + a[i * 12 + #];\n", "float u# = a[i * 12 + #];\nfloat t# = u# + t$;\n"}) {
    expect_loop(first + numbered(next) + "b[i] = t9;", "sum += a[i * 12 + k];", 10);
  }
  expect_loop("float d0 = b[i];\nfloat t0 = a[i * 12] * d0;\n" +
                  numbered("float t# = fmaf(a[i * 12 + #], d0, t$);\n") + "b[i] = t9 * t9;",
              "= fmaf(a[i * 12 + k], d0, ", 10);
}

TEST(RolledSums, OthersStay) {
  const std::string sum = sum_of("a[i * 12 + ", "]", 0, 8);
  for (const std::string& body : {
           // Few terms, at irregular places, all the same, of another kind.
           "b[i] = " + sum_of("a[i * 12 + ", "]", 0, 7) + ";",
           "b[i] = " + sum_of("a[i * 12 + ", "]", 0, 7) + " + a[i * 12 + 9];",
           "b[i] = " + sum_of("a[i * 12 + 0 * ", "]", 0, 8) + ";",
           "b[i] = " + sum_of("a[i * 12 + ", "]", 0, 6) + " - a[i * 12 + 6] + a[i * 12 + 7];",
           "b[i] = " + sum_of("(float)(i + ", ")", 0, 8) + ";",
           // Not always computed, or in a loop.
           "b[i] = b[i] > 0.0f ? " + sum + " : 0.0f;",
           "for (int r = 0; r < 2; ++r) b[i] += " + sum + ";",
       }) {
    const std::string code = rolled(body);
    EXPECT_EQ(code.find("++k"), std::string::npos) << code;
  }
}

// Names that are asked for twice, or that something is written behind, keep their values.
TEST(RolledSums, LeaveNamesThatOthersNeed) {
  const std::string code = rolled("float t = a[i * 12] + a[i * 12 + 1];\nfloat s = t" +
                                  (" + " + sum_of("a[i * 12 + ", "]", 2, 9)) + ";\nb[i] = s * t;");
  EXPECT_NE(code.find("float sum = t;"), std::string::npos) << code;
  const std::string stored = rolled("float t = b[i] + a[i * 12];\nb[i] = 1.0f;\nb[i] += t + " +
                                    sum_of("a[i * 12 + ", "]", 1, 8) + ";");
  EXPECT_NE(stored.find("float t = b[i] + a[i * 12];"), std::string::npos) << stored;
}

}  // namespace
}  // namespace regraph::test::rolled_sums_test
