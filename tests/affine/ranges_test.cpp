#include "affine/ranges.h"

#include "rewrite/step_checks.h"
#include "source/build.h"
#include "source/walk.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace regraph::test::ranges_test {
namespace {

using source::Polynomial;

Polynomial symbol(const std::string& name) {
  return Polynomial::symbol(name);
}

// A kernel in blocks of 16 x 4 whose grid along x is `grid`.
class RangesTest : public testing::Test {
 protected:
  void open(const std::string& body, const std::string& grid) {
    auto kernel = KernelCase::make(
        "__global__ void f(const float* a, float* b, int n, int h) {\n" + body + "}",
        "sizes: {n: 64, h: 8}\nargs: {a: {shape: [n, h]}, b: {dir: inout, shape: [n, h]}}\n"
        "launch: {block: [16, 4], grid: [\"" +
            grid + "\", 2]}\ntests: [{n: 64, h: 8}]\ncheck: {benign_races: [b]}\n");
    ASSERT_TRUE(kernel) << kernel.error().message;
    kernel_ = std::move(*kernel);
    analysis_.emplace(kernel_->original(), kernel_->problem(), sm_90_limits());
    ranges_.emplace(analysis_->kernel(), analysis_->analysis(), **analysis_->launch(),
                    &kernel_->problem());
  }

  // The condition of the branch that stores `number`.
  source::ExprPtr condition(int number) const {
    source::ExprPtr found;
    source::walk(kernel_->original().unit.kernel.body, [&](const source::Stmt& stmt) {
      const auto* branch = source::as<source::Branch>(stmt);
      const auto* store =
          branch != nullptr ? source::as<source::Assignment>(branch->body[0]) : nullptr;
      const auto* value =
          store != nullptr ? source::as<source::IntegerLiteral>(store->value) : nullptr;
      if (value != nullptr && value->value == number) found = branch->condition;
    });
    EXPECT_NE(found, nullptr) << number;
    return found;
  }

  std::unique_ptr<KernelCase> kernel_;
  std::optional<rewrite::KernelAnalysis> analysis_;
  std::optional<affine::Ranges> ranges_;
};

TEST_F(RangesTest, ExtremesAreOverThreadsAndConstantLoops) {
  open("for (int k = 1; k < 8; k += 3) if (threadIdx.x < n) b[threadIdx.x] = 1.0f * k;\n", "2");
  const Polynomial index = symbol("blockIdx.x") * symbol("blockDim.x") + symbol("threadIdx.x") -
                           Polynomial(2) * symbol("k");
  const Polynomial base = Polynomial(16) * symbol("blockIdx.x");
  EXPECT_EQ(ranges_->highest(index), base + Polynomial(15 - 2));
  EXPECT_EQ(ranges_->lowest(index), base - Polynomial(14));
  const Polynomial row = symbol("threadIdx.y") * symbol("n");
  EXPECT_EQ(ranges_->highest(row), Polynomial(3) * symbol("n"));
  // Who knows which is larger.
  EXPECT_EQ(ranges_->highest((symbol("n") - symbol("h")) * symbol("threadIdx.x")), std::nullopt);
}

TEST_F(RangesTest, ProvesWhatGridsAndGuardsSay) {
  open(
      "int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "if (i < n) b[i] = 1;\nif (i < n + 1) b[i] = 2;\nif (i < n - 1) b[i] = 3;\n"
      "if (i < n * h) b[i] = 4;\nif (i + 16 <= n) b[i] = 5;\n"
      "for (int k = i; k < h; ++k) { if (k >= 0) b[k] = 6; if (i < h) b[k] = 7; }\n",
      "n / 16");
  EXPECT_TRUE(ranges_->proves(condition(1)));
  EXPECT_TRUE(ranges_->proves(condition(2)));
  EXPECT_FALSE(ranges_->proves(condition(3)));
  EXPECT_TRUE(ranges_->proves(condition(4), {condition(1)}));
  EXPECT_FALSE(ranges_->proves(condition(5)));
  EXPECT_TRUE(ranges_->proves(condition(3), {condition(5)}));
  EXPECT_TRUE(ranges_->proves(condition(6)));
  // Only in the loop, which the condition does not mention.
  EXPECT_FALSE(ranges_->proves(condition(7)));
}

TEST_F(RangesTest, GridsThatRoundUpProveLess) {
  open(
      "int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "if (i < n) b[i] = 1;\nif (i < n + 15) b[i] = 2;\n",
      "cdiv(n, bx)");
  EXPECT_FALSE(ranges_->proves(condition(1)));
  EXPECT_TRUE(ranges_->proves(condition(2)));
}

TEST_F(RangesTest, KnowsWhatIsBeyondTheGrid) {
  open("int i = blockIdx.x * blockDim.x + threadIdx.x;\nif (i < n) b[i] = 1;\n", "cdiv(n, bx)");
  const Polynomial index = symbol("blockIdx.x") * symbol("blockDim.x") + symbol("threadIdx.x");
  EXPECT_TRUE(ranges_->is_negative_beyond_grid(symbol("n") - index - Polynomial(1), 0));
  EXPECT_FALSE(ranges_->is_negative_beyond_grid(symbol("n") - index, 0));
  EXPECT_FALSE(ranges_->is_negative_beyond_grid(symbol("n") - index - Polynomial(1), 1));
}

TEST_F(RangesTest, DividesWhereTheRestStaysBelow) {
  open("if (threadIdx.x < n) b[threadIdx.x] = 1;\n", "2");
  const Polynomial thread = symbol("threadIdx.x") + symbol("blockDim.x") * symbol("threadIdx.y");
  const auto lane = ranges_->divided(thread, Polynomial(16));
  ASSERT_TRUE(lane);
  EXPECT_EQ(lane->quotient, symbol("threadIdx.y"));
  EXPECT_EQ(lane->remainder, symbol("threadIdx.x"));
  EXPECT_FALSE(ranges_->divided(thread, Polynomial(8)));
  const auto row = ranges_->divided(
      symbol("n") * symbol("threadIdx.y") + symbol("n") - Polynomial(1), symbol("n"));
  EXPECT_FALSE(row);  // n - 1 is no remainder as it stands: the term n goes into the quotient
  const auto exact = ranges_->divided(symbol("n") * symbol("threadIdx.y"), symbol("n"));
  ASSERT_TRUE(exact);
  EXPECT_EQ(exact->quotient, symbol("threadIdx.y"));
}

}  // namespace
}  // namespace regraph::test::ranges_test
