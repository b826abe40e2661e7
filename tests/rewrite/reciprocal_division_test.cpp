// reciprocal_division: quotients by what stays the same.
#include "rewrite/step_checks.h"

namespace regraph::test::reciprocal_division_test {
namespace {

std::unique_ptr<KernelCase> case_of(const std::string& body, const std::string& more = "",
                                    const std::string& type = "float") {
  auto kernel = KernelCase::make(
      "__global__ void f(const " + type + "* a, " + type +
          "* b, int rows, int n) {\n"
          "  int r = blockIdx.x * blockDim.x + threadIdx.x;\n  if (r >= rows) return;\n" +
          body + "\n}",
      "sizes: {rows: 100, n: 7}\nargs:\n  a: {dir: in, shape: [rows, n]}\n  b: {dir: inout, shape: "
      "[rows, n]}\n"
      "launch: {block: 64, grid: 'cdiv(rows, bx)'}\n" +
          more);
  EXPECT_TRUE(kernel.ok()) << (kernel.ok() ? "" : kernel.error().message);
  return kernel.ok() ? std::move(*kernel) : nullptr;
}

std::string inverted(const std::string& body, const std::string& type = "float") {
  const auto kernel = case_of(body, "", type);
  if (kernel == nullptr) return "";
  const auto state = expect_correct(*kernel, {{"reciprocal_division", {}}});
  EXPECT_EQ(std::count(state.assumptions.begin(), state.assumptions.end(),
                       std::string(rewrite::kInvertsDivisors)),
            1);
  return source::print(state.unit.kernel.body, 0);
}

constexpr const char* kSum =
    "float s = 1.0f;\n  for (int i = 0; i < n; ++i) s += fabsf(a[r * n + i]);\n";

TEST(ReciprocalDivision, InFrontOfTheLoop) {
  const std::string code =
      inverted(std::string(kSum) + "for (int i = 0; i < n; ++i) b[r * n + i] = a[r * n + i] / s;");
  expect_text(code, "const float s_inverse = 1.0f / s;\nfor");
  expect_text(code, "a[r * n + i] * s_inverse;");
  const std::string in_place =
      inverted(std::string(kSum) + "for (int i = 0; i < n; ++i) b[r * n + i] /= s + 2.0f;");
  expect_text(in_place, "const float inverse = 1.0f / (s + 2.0f);\nfor");
  expect_text(in_place, "b[r * n + i] *= inverse;");
  const std::string doubles = inverted(
      "double s = a[r * n] * a[r * n] + 1.0;\n"
      "for (int i = 0; i < n; ++i) { s += 1.0; for (int j = 0; j < 2; ++j) b[r * n + i] = a[r * n "
      "+ i] / s; }",
      "double");
  expect_text(doubles, "const double s_inverse = 1.0 / s;\n  for (int j");
}

TEST(ReciprocalDivision, BehindADeclaration) {
  const std::string code = inverted(
      "const float s = fabsf(a[r * n]) + 1.0f;\nb[r * n] = a[r * n] / s;\n"
      "if (n > 2) b[r * n + 1] = a[r * n + 1] * a[r * n] / s;");
  expect_text(code, "const float s_inverse = 1.0f / s;\n");
  expect_text(code, "= a[r * n] * s_inverse;");
  expect_text(code, "a[r * n + 1] * a[r * n] * s_inverse;");
}

// One quotient is no more than a reciprocal and a product; what changes, what is read from memory,
// integers, and quotients that a loop leaves as they are stay quotients.
TEST(ReciprocalDivision, LeavesOtherQuotients) {
  for (const char* body :
       {"float s = fabsf(a[r * n]) + 1.0f; b[r * n] = a[r * n] / s;",
        "float s = 1.0f; for (int i = 0; i < n; ++i) { s += fabsf(a[r * n + i]); b[r * n + i] = "
        "a[r * n + i] / s; }",
        "b[r * n] = 2.0f; for (int i = 1; i < n; ++i) b[r * n + i] = a[r * n + i] / b[r * n];",
        "for (int i = 0; i < n; ++i) b[r * n + i] = a[r * n + i] / (fabsf(a[r * n]) + 1.0f);",
        "for (int i = 0; i < n; ++i) b[r * n + i] = a[r * n + i] + i / n;",
        "for (int i = 0; i < n; ++i) b[r * n + i] = a[r * n + i] / 3.0f;",
        "float s = fabsf(a[r * n]) + 1.0f; for (int i = 0; i < n; ++i) b[r * n + i] = 1.0f / s;",
        "double s = fabs((double)a[r * n]) + 1.0; for (int i = 0; i < n; ++i) b[r * n + i] = "
        "__fdividef(a[r * n + i], 3.0f);"}) {
    SCOPED_TRACE(body);
    const auto kernel = case_of(body);
    ASSERT_NE(kernel, nullptr);
    expect_refusal(*kernel, {"reciprocal_division", {}}, "no value is divided by several times");
  }
  const auto exact = case_of(std::string(kSum) + "for (int i = 0; i < n; ++i) b[r * n + i] /= s;",
                             "assume: {reassociate: false}\n");
  ASSERT_NE(exact, nullptr);
  expect_refusal(*exact, {"reciprocal_division", {}}, "reassociate: true");
}

}  // namespace
}  // namespace regraph::test::reciprocal_division_test
