// Parameters that a kernel moves on.
#include "rewrite/forms/moved_parameters.h"

#include "rewrite/step_checks.h"

namespace regraph::test::moved_parameters_test {
namespace {

// The kernel without moved parameters, as text; it computes the same.
std::string settled(const std::string& statements) {
  const auto kernel = KernelCase::make(
      "__global__ void f(const float* a, float* b, int n, int m) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n  float s = "
      "0.0f;\n  " +
          statements + "\n}",
      "sizes: {n: 64, m: 16}\nargs:\n  a: {dir: in, shape: [n + 1, m]}\n"
      "  b: {dir: out, shape: [n]}\nlaunch: {block: 32, grid: 'cdiv(n, bx)'}\n"
      "tests: [{n: 37, m: 5}, {n: 64, m: 16}, {n: 1, m: 1}]\n");
  EXPECT_TRUE(kernel.ok()) << (kernel.ok() ? "" : kernel.error().message);
  if (!kernel.ok()) return "";
  rewrite::KernelState state = (*kernel)->original();
  state.unit.kernel.body = rewrite::without_moved_parameters(state.unit.kernel);
  EXPECT_EQ((*kernel)->verdict(state), "correct") << statements;
  return source::print(state.unit.kernel.body, 0);
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(MovedParameters, ArePointersOfTheKernelsOwn) {
  const std::string straight = settled("a += i * m; b += i; a = a + 1; s = a[-1]; b[0] = s;");
  EXPECT_TRUE(holds(straight, "const float* a2 = a + i * m;")) << straight;
  EXPECT_TRUE(holds(straight, "const float* a3 = a2 + 1;")) << straight;
  EXPECT_TRUE(holds(straight, "s = a3[-1];")) << straight;
  EXPECT_TRUE(holds(straight, "float* b2 = b + i;")) << straight;
  EXPECT_TRUE(holds(straight, "b2[0] = s;")) << straight;
}

TEST(MovedParameters, AreCopiedWhereALoopOrABranchMovesThem) {
  const std::string loop =
      settled("a += i * m; for (int k = 0; k < m; ++k) { s += a[0]; a += 1; } b[i] = s;");
  EXPECT_TRUE(holds(loop, "++a2;")) << loop;
  const std::string branch = settled("if (i > 3) a -= -1; b[i] = a[0];");
  EXPECT_TRUE(holds(branch, "const float* a2 = a;")) << branch;
  EXPECT_TRUE(holds(branch, "b[i] = a2[0];")) << branch;
}

TEST(MovedParameters, OthersStay) {
  for (const char* body : {"const float* p = a + i * m; p += 1; b[i] = p[-1];", "b[i] = a[i];"})
    EXPECT_FALSE(holds(settled(body), "a2")) << body;
}

// As parameters of functions do that are taken into the kernel.
TEST(MovedParameters, SoArePointersOfTheKernelsOwnBlock) {
  const std::string own = settled("const float* p = a; p += i * m; p += 1; b[i] = p[-1];");
  EXPECT_TRUE(holds(own, "const float* p2 = p + i * m;")) << own;
  EXPECT_TRUE(holds(own, "b[i] = p3[-1];")) << own;
  const std::string inner =
      settled("if (i > 1) { const float* p = a; p += i; b[i] = p[0]; } else { b[i] = 0.0f; }");
  EXPECT_FALSE(holds(inner, "p2")) << inner;
}

}  // namespace
}  // namespace regraph::test::moved_parameters_test
