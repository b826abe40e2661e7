// reciprocal_root: quotients by square roots.
#include "rewrite/step_checks.h"

namespace regraph::test::reciprocal_root_test {
namespace {

std::unique_ptr<KernelCase> case_of(const std::string& body, const std::string& more = "") {
  auto kernel = KernelCase::make(
      "__global__ void f(const float* a, float* b, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
      "  float s = a[i] * a[i] + 0.5f;\n" +
          body + "\n}",
      "sizes: {n: 100}\nargs:\n  a: {dir: in, shape: [n]}\n  b: {dir: inout, shape: [n]}\n"
      "launch: {block: 64, grid: 'cdiv(n, bx)'}\n" +
          more);
  EXPECT_TRUE(kernel.ok()) << (kernel.ok() ? "" : kernel.error().message);
  return kernel.ok() ? std::move(*kernel) : nullptr;
}

std::string inverted(const std::string& body) {
  const auto kernel = case_of(body);
  if (kernel == nullptr) return "";
  const auto state = expect_correct(*kernel, {{"reciprocal_root", {}}});
  EXPECT_TRUE(
      std::count(state.assumptions.begin(), state.assumptions.end(), rewrite::kInvertsRoots) == 1);
  return source::print(state.unit.kernel.body, 0);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(ReciprocalRoot, IsMultipliedWith) {
  const std::string cube = inverted("float d = sqrtf(s); b[i] = a[i] / (d * d * d);");
  EXPECT_TRUE(has(cube, "const float d_inverse = rsqrtf(s);")) << cube;
  EXPECT_TRUE(has(cube, "b[i] = a[i] * d_inverse * d_inverse * d_inverse;")) << cube;
  EXPECT_FALSE(has(cube, "sqrtf(s);\n  float d")) << cube;
  const std::string mixed =
      inverted("float d = sqrtf(s); float inv = 1.0f / (s * d); b[i] = a[i] * inv;");
  EXPECT_TRUE(has(mixed, "float inv = d_inverse * d_inverse * d_inverse;")) << mixed;
  const std::string named = inverted("float d = sqrtf(s); float d3 = d * d * d; b[i] = a[i] / d3;");
  EXPECT_FALSE(has(named, "d3")) << named;
  const std::string direct = inverted("b[i] /= sqrtf(s) * sqrtf(s + 1.0f);");
  EXPECT_TRUE(has(direct, "b[i] *= rsqrtf(s) * rsqrtf(s + 1.0f);")) << direct;
}

TEST(ReciprocalRoot, LeavesRootsThatAreUsedOtherwise) {
  const std::string kept = inverted("float d = sqrtf(s); b[i] = d > 1.0f ? a[i] / d : d;");
  EXPECT_TRUE(has(kept, "float d = sqrtf(s);")) << kept;
  EXPECT_TRUE(has(kept, "a[i] * d_inverse")) << kept;
}

TEST(ReciprocalRoot, RefusesOtherQuotients) {
  for (const char* body : {"float d = sqrtf(s); b[i] = a[i] / (d + 1.0f);",
                           "float d = sqrtf(s); b[i] = a[i] / (d * a[i]);",
                           "float d = sqrtf(s); d += 1.0f; b[i] = a[i] / d;",
                           "double d = sqrt((double)s); b[i] = a[i] / d;", "b[i] = a[i] / s;"}) {
    const auto kernel = case_of(body);
    ASSERT_NE(kernel, nullptr);
    expect_refusal(*kernel, {"reciprocal_root", {}},
                   "no quotient in single precision is by square roots alone");
  }
  const auto exact = case_of("b[i] = a[i] / sqrtf(s);", "assume: {reassociate: false}\n");
  ASSERT_NE(exact, nullptr);
  expect_refusal(*exact, {"reciprocal_root", {}}, "reassociate: true");
}

}  // namespace
}  // namespace regraph::test::reciprocal_root_test
