// Conditions that hold for the first thread of a block alone.
#include "rewrite/analysis/first_thread.h"

#include "rewrite/step_checks.h"

namespace regraph::test::first_thread_test {
namespace {

// Of each condition in turn, in a kernel with all of them.
std::vector<bool> are_first(const std::vector<std::string>& conditions) {
  std::string code =
      "__global__ void f(const float* a, float* b, int n) {\n  int t = threadIdx.x;\n";
  for (const std::string& condition : conditions)
    code += "  if (" + condition + ") b[t] = a[t];\n";
  const auto kernel = KernelCase::make(
      code + "}",
      "sizes: {n: 64}\nargs: {a: {dir: in, shape: [n]}, b: {dir: inout, shape: [n]}}\n"
      "launch: {block: 64, grid: 1}\n");
  EXPECT_TRUE(kernel.ok()) << (kernel.ok() ? "" : kernel.error().message);
  if (!kernel.ok()) return {};
  const source::Kernel& original = (*kernel)->original().unit.kernel;
  const source::Analysis analysis(original);
  std::vector<bool> result;
  for (const source::StmtPtr& stmt : original.body) {
    const auto* branch = source::as<source::Branch>(stmt);
    if (branch == nullptr) continue;
    result.push_back(rewrite::is_first_thread(
        branch->condition, [&](const source::ExprPtr& side) { return analysis.polynomial(side); }));
  }
  return result;
}

TEST(FirstThread, IsAskedForInSeveralWays) {
  EXPECT_EQ(are_first({"threadIdx.x == 0", "t == 0", "threadIdx.x < 1", "!threadIdx.x", "!t"}),
            std::vector<bool>(5, true));
  EXPECT_EQ(are_first({"threadIdx.x == 1", "t < 2", "t <= 1", "t != 0", "!blockIdx.x", "t + n == 0",
                       "t", "t == 0 && n > 3", "!a[t]", "blockIdx.x == 0"}),
            std::vector<bool>(10, false));
}

}  // namespace
}  // namespace regraph::test::first_thread_test
