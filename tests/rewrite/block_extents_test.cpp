// Literal block extents: numbers that say what blockDim says.
#include "rewrite/step_checks.h"

namespace regraph::test::block_extents_test {
namespace {

Result<std::unique_ptr<KernelCase>> case_of(const std::string& index, const char* block = "64") {
  return KernelCase::make(
      "__global__ void f(const float* a, float* b, int n) {\n  int i = " + index +
          ";\n  if (i < n) b[i] = a[i];\n}",
      "sizes: {n: 300}\nargs:\n  a: {dir: in, shape: [n]}\n"
      "  b: {dir: out, shape: [n]}\nlaunch: {block: " +
          std::string(block) + ", grid: 'cdiv(n, bx)'}\ntests: [{n: 300}, {n: 128}, {n: 1}]\n");
}

const Application kHalf = {"block_size", {{"block", "128"}}};

TEST(BlockExtents, AreBlockDimHoweverTheyAreSaid) {
  for (const char* index :
       {"blockIdx.x * 64 + threadIdx.x", "threadIdx.x + 64 * blockIdx.x",
        "(int)blockIdx.x * 64 + (int)threadIdx.x", "(long long)blockIdx.x * 64LL + threadIdx.x"}) {
    SCOPED_TRACE(index);
    const auto kernel = case_of(index);
    ASSERT_TRUE(kernel.ok()) << kernel.error().message;
    const auto wider = expect_correct(**kernel, {kHalf});
    EXPECT_NE(source::print(wider.unit).find("blockDim.x"), std::string::npos);
  }
}

TEST(BlockExtents, OtherNumbersStay) {
  const auto kernel = case_of("blockIdx.x * 64 + threadIdx.x", "32");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_refusal(**kernel, kHalf, "uses the x position within the block");
}

}  // namespace
}  // namespace regraph::test::block_extents_test
