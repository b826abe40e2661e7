#include "affine/index_range.h"

#include "rewrite/step_checks.h"
#include "source/walk.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

namespace regraph::test::index_range_test {
namespace {

using Range = std::optional<std::pair<std::int64_t, std::int64_t>>;
constexpr std::nullopt_t kUnknown = std::nullopt;

// The range of every subscript of `t`, in the order of the text, in blocks of 16 x 4.
std::vector<Range> ranges_in(const std::string& body) {
  auto kernel = KernelCase::make(
      "__global__ void f(const int* a, int* b, int n) {\n  __shared__ int t[4096];\n" + body +
          "\n  b[0] = a[0];\n}",
      "sizes: {n: 64}\nargs: {a: {shape: [n]}, b: {dir: out, shape: [n]}}\n"
      "launch: {block: [16, 4], grid: 1}\n");
  std::vector<Range> ranges;
  if (!kernel) {
    ADD_FAILURE() << kernel.error().message;
    return ranges;
  }
  const rewrite::KernelAnalysis analysis = (*kernel)->analysis((*kernel)->original());
  source::walk_expressions(analysis.kernel().body, [&](const source::Expr& expr) {
    const auto* element = source::as<source::Subscript>(expr);
    const auto* base = element != nullptr ? source::base_variable(expr) : nullptr;
    if (base == nullptr || base->name != "t") return;
    const auto range = affine::range_of(element->index, analysis.analysis(), {16, 4, 1});
    ranges.push_back(range ? Range({range->low, range->high}) : kUnknown);
  });
  return ranges;
}

void expect_ranges(const std::string& before,
                   const std::vector<std::pair<std::string, Range>>& expected) {
  std::string body = before + "\n  if (n < 0) {\n";
  for (const auto& [index, range] : expected)
    body += "t[" + index + "] = 1;\n";
  const std::vector<Range> found = ranges_in(body + "}");
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t at = 0; at < found.size(); ++at)
    EXPECT_EQ(found[at], expected[at].second) << expected[at].first;
}

TEST(IndexRange, FollowsThreadsAndArithmetic) {
  expect_ranges("int y = threadIdx.y;", {{"7", {{7, 7}}},
                                         {"threadIdx.x", {{0, 15}}},
                                         {"threadIdx.x + 16 * threadIdx.y", {{0, 63}}},
                                         {"blockDim.x * threadIdx.y", {{0, 48}}},
                                         {"20 - (int)threadIdx.x", {{5, 20}}},
                                         {"(threadIdx.x + 16 * threadIdx.y) / 8", {{0, 7}}},
                                         {"(threadIdx.x + 16 * threadIdx.y) % 8", {{0, 7}}},
                                         {"threadIdx.y % 8", {{0, 3}}},
                                         {"y * -2", {{-6, 0}}}});
}

TEST(IndexRange, FollowsLoops) {
  const std::vector<Range> ranges = ranges_in(
      "for (int k = 2; k < 32; k += 8) if (n < 9) t[k] = 1;\n"
      "for (int k1 = 0; k1 <= 8; ++k1) if (n < 9) t[k1] = 1;\n"
      "for (int k2 = threadIdx.x; k2 < 48; k2 += 16) if (n < 9) t[k2] = 1;\n"
      "for (int k3 = 0; k3 < n; ++k3) if (n < 9) t[k3] = 1;\n");
  EXPECT_EQ(ranges, (std::vector<Range>{{{2, 26}}, {{0, 8}}, {{0, 47}}, kUnknown}));
}

TEST(IndexRange, SaysNothingOfWhatItCannotKnow) {
  expect_ranges(
      "int x = threadIdx.x; if (n < 0) x = 900;\n"
      "unsigned char c = 100 * threadIdx.x;",
      {{"n", kUnknown},
       {"a[0]", kUnknown},
       {"blockIdx.x", kUnknown},
       {"x", kUnknown},
       {"((int)threadIdx.x - 8) % 4", kUnknown},
       // What is cut off is not what it was.
       {"c", kUnknown},
       {"(unsigned char)(100 * threadIdx.x)", kUnknown},
       {"threadIdx.x * 100000 * 100000", kUnknown}});
}

}  // namespace
}  // namespace regraph::test::index_range_test
