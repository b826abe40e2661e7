// Loads in front of a guard that only what is guarded needs.
#include "rewrite/forms/sunk_loads.h"

#include "rewrite/step_checks.h"

namespace regraph::test::sunk_loads_test {
namespace {

std::string sunk(const std::string& body) {
  const auto kernel = KernelCase::make(
      "__global__ void f(const float* a, float* b, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
          body + "\n}",
      "sizes: {n: 64}\nargs:\n  a: {dir: in, shape: [n]}\n  b: {dir: inout, shape: [n]}\n"
      "launch: {block: 64, grid: 'cdiv(n, bx)'}\n");
  EXPECT_TRUE(kernel.ok()) << (kernel.ok() ? "" : kernel.error().message);
  if (!kernel.ok()) return "";
  return source::print(rewrite::with_sunk_loads((*kernel)->original().unit.kernel), 0);
}

const std::string kIndex = "int i = blockIdx.x * blockDim.x + threadIdx.x;\n";

TEST(SunkLoads, AreUnderTheGuardThatNeedsThem) {
  EXPECT_EQ(sunk("float v = a[i]; if (i < n) b[i] = v;"),
            kIndex + "if (i < n) {\n  float v = a[i];\n  b[i] = v;\n}\n");
  EXPECT_EQ(sunk("float v = a[i]; float w = v * 2.0f; if (i < n) { b[i] = w; }"),
            kIndex + "if (i < n) {\n  float v = a[i];\n  float w = v * 2.0f;\n  b[i] = w;\n}\n");
}

TEST(SunkLoads, OthersStay) {
  for (const char* body :
       {"float v = a[i];\nif (v < 1.0f) {\n  b[i] = v;\n}\n",
        "float v = a[i];\nif (i < n) {\n  b[i] = v;\n} else {\n  b[0] = v;\n}\n",
        "float v = a[i];\nif (i < n) {\n  b[i] = v;\n}\nif (i == 0) {\n  b[0] = v;\n}\n",
        "float v = b[i];\nb[i] = 1.0f;\nif (i < n) {\n  b[i] = v;\n}\n",
        "float v = b[i];\nif (atomicExch(&b[i], 1.0f) < 2.0f) {\n  b[i] = v;\n}\n",
        "const float w = i * 2.0f;\nif (i < n) {\n  b[i] = w;\n}\n"}) {
    EXPECT_EQ(sunk(body), kIndex + body);
  }
}

}  // namespace
}  // namespace regraph::test::sunk_loads_test
