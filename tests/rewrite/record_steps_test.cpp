// Steps on kernels whose indices and values come through records.
#include "rewrite/step_checks.h"

namespace regraph::test::record_steps_test {
namespace {

const Application kElements = {"row_kernel", {{"form", "elements"}}};

TEST(RecordSteps, FieldsWithZerosOutsideAreWindows) {
  const auto kernel = sample("field_of_zeros_outside");
  ASSERT_NE(kernel, nullptr);
  const auto window =
      expect_correct(*kernel, {{"window", {{"axis", "y"}, {"rows", "4"}, {"block", "keep"}}}});
  const std::string code = source::print(window.unit.kernel.body, 0);
  EXPECT_EQ(code.find("inside"), std::string::npos) << code;
  EXPECT_EQ(code.find("f_data"), std::string::npos) << code;
}

TEST(RecordSteps, ElementsOfRowsAreThreads) {
  const auto kernel = sample("turned_rows");
  ASSERT_NE(kernel, nullptr);
  const auto spread = expect_correct(*kernel, {kElements});
  EXPECT_EQ(spread.plan.launches[0].grid[0].text(), "cdiv(heads * half, bx)");
  EXPECT_EQ(spread.plan.launches[0].block.x, 256U);
  expect_correct(*kernel, {kElements, {"linearize", {}}});
  // What is added up is no single element's.
  const auto sums = sample("block_softmax");
  ASSERT_NE(sums, nullptr);
  expect_refusal(*sums, kElements, "");
}

// A block a token writes rows to where a table says, through a view: elements that are told by
// quotients of their number.
Result<std::unique_ptr<KernelCase>> paged_rows(const std::string& place,
                                               const std::string& head = "i / pages.size",
                                               const std::string& column = "i % pages.size") {
  return KernelCase::make(
      "struct Pages { float* data; int heads; int page; int size;\n"
      "  __device__ float& at(long long slot, int head, int i) const {\n"
      "    const long long block = slot / page;\n    const long long offset = slot % page;\n"
      "    return data[" +
          place +
          "];\n  }\n};\n"
          "template <typename T> __device__ void store(const T* x, const Pages& pages, const int* "
          "slots) {\n  const long long token = blockIdx.x;\n  const long long slot = "
          "slots[token];\n"
          "  if (slot < 0) return;\n  const int n = pages.heads * pages.size;\n"
          "  for (int i = threadIdx.x; i < n; i += blockDim.x)\n"
          "    pages.at(slot, " +
          head + ", " + column +
          ") = x[token * n + i];\n}\n"
          "__global__ void f(const float* x, float* cache, const int* slots, int heads, int page, "
          "int "
          "size) {\n  store<float>(x, Pages{cache, heads, page, size}, slots);\n}\n",
      "sizes: {tokens: 40, heads: 4, size: 64, page: 8}\nargs: {x: {dir: in, shape: [tokens, "
      "heads, size], init: normal}, cache: {dir: inout, shape: [tokens + page, heads, page, "
      "size]}, "
      "slots: {dir: in, shape: [tokens], init: iota}}\nlaunch: {block: 64, grid: tokens}\ntests: "
      "[{tokens: 7, heads: 3, size: 5, page: 4}, {tokens: 1, heads: 1, size: 1, page: 1}]\n"
      "assume: {noalias: true}\n");
}

TEST(RecordSteps, ElementsToldByQuotientsAreThreadsOfThreeAxes) {
  const auto kernel = paged_rows("((block * heads + head) * page + offset) * size + i");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto spread = expect_correct(**kernel, {kElements});
  EXPECT_EQ(spread.plan.launches[0].grid[0].text(), "cdiv(size, bx)");
  EXPECT_EQ(spread.plan.launches[0].grid[2].text(), "tokens");
  // Parts that are no rows and columns of the whole.
  const auto other = paged_rows("slot * heads * size + head * 3 + i", "i / 3", "i % 3");
  ASSERT_TRUE(other.ok()) << other.error().message;
  expect_refusal(**other, kElements, "accessed where its index is no polynomial");
}

}  // namespace
}  // namespace regraph::test::record_steps_test
