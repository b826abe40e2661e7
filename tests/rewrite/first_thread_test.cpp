// Conditions that hold for the first thread of a block alone.
#include "rewrite/analysis/first_thread.h"

#include "rewrite/step_checks.h"

namespace regraph::test {
namespace {

bool is_first(const std::string& condition) {
  const auto kernel = KernelCase::make(
      "__global__ void f(const float* a, float* b, int n) {\n  int t = threadIdx.x;\n  if (" +
          condition + ") b[blockIdx.x] = a[t];\n}",
      "sizes: {n: 64}\nargs: {a: {dir: in, shape: [n]}, b: {dir: inout, shape: [n]}}\n"
      "launch: {block: 64, grid: 1}\n");
  EXPECT_TRUE(kernel.ok()) << (kernel.ok() ? "" : kernel.error().message);
  if (!kernel.ok()) return false;
  const source::Kernel& code = (*kernel)->original().unit.kernel;
  const source::Analysis analysis(code);
  const auto* branch = source::as<source::Branch>(code.body.back());
  EXPECT_NE(branch, nullptr);
  return branch != nullptr &&
         rewrite::is_first_thread(branch->condition, [&](const source::ExprPtr& side) {
           return analysis.polynomial(side);
         });
}

TEST(FirstThread, IsAskedForInSeveralWays) {
  for (const char* condition :
       {"threadIdx.x == 0", "t == 0", "threadIdx.x < 1", "!threadIdx.x", "!t"})
    EXPECT_TRUE(is_first(condition)) << condition;
  for (const char* condition : {"threadIdx.x == 1", "t < 2", "t <= 1", "t != 0", "!blockIdx.x",
                                "t + n == 0", "t", "-t == 0", "t == 0 && n > 3", "!a[t]"})
    EXPECT_FALSE(is_first(condition)) << condition;
}

}  // namespace
}  // namespace regraph::test
