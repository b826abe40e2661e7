#include "rewrite/analysis/interior.h"

#include "rewrite/step_checks.h"

#include <algorithm>
#include <optional>

namespace regraph::test::interior_test {
namespace {

// A kernel of blocks of 32 x 4, as branch_hoist looks at it.
class InteriorTest : public testing::Test {
 protected:
  // The conditions as text; empty: refused.
  std::vector<std::string> conditions(const std::string& body,
                                      const std::string& more_parameters = "") {
    auto kernel =
        KernelCase::make("__global__ void f(const float* a, float* b, int n, int h" +
                             more_parameters + ") {\n" + body + "\n}",
                         "sizes: {n: 128, h: 64, m: 3}\nargs: {a: {shape: [16384]}, b: {dir: "
                         "inout, shape: [16384]}}\n"
                         "launch: {block: [32, 4], grid: [2, 2]}\ntests: [{n: 128, h: 64}]\n"
                         "check: {benign_races: [b]}\n");
    EXPECT_TRUE(kernel.ok()) << kernel.error().message;
    if (!kernel) return {};
    kernel_ = std::move(*kernel);
    analysis_.emplace(kernel_->original(), kernel_->problem(), sm_90_limits());
    auto form = analysis_->single_exit();
    EXPECT_TRUE(form.ok()) << form.error().message;
    const auto found =
        rewrite::interior_of((*form)->kernel, (*form)->analysis, (*analysis_->launch())->block);
    std::vector<std::string> result;
    if (!found) {
      reason_ = found.error().message;
      return result;
    }
    for (const source::ExprPtr& condition : found->conditions)
      result.push_back(source::print(condition));
    std::sort(result.begin(), result.end());
    implied_count_ = found->implied.size();
    return result;
  }

  [[nodiscard]] std::size_t implied_count() const { return implied_count_; }
  [[nodiscard]] const std::string& reason() const { return reason_; }

 private:
  std::unique_ptr<KernelCase> kernel_;
  std::optional<rewrite::KernelAnalysis> analysis_;
  std::size_t implied_count_ = 0;
  std::string reason_;
};

using Texts = std::vector<std::string>;

constexpr const char* kPlace =
    "int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "int y = blockIdx.y * blockDim.y + threadIdx.y;\n";

TEST_F(InteriorTest, AsksTheFirstOrTheLastThread) {
  EXPECT_EQ(conditions(std::string(kPlace) +
                       "if (x > 0 && x < n - 1 && y <= h - 2) b[y * n + x] = 1.0f;"),
            (Texts{"(int)blockIdx.x * 32 + 32 < n", "(int)blockIdx.x * 32 > 0",
                   "(int)blockIdx.y * 4 + 5 <= h"}));
  EXPECT_EQ(implied_count(), 3U);
}

TEST_F(InteriorTest, CountsIterationsOfConstantLoops) {
  EXPECT_EQ(
      conditions(std::string(kPlace) +
                 "float s = 0.0f;\n"
                 "for (int d = -2; d <= 2; ++d) s += x + d >= 0 && x + d < n ? a[x + d] : 0.0f;\n"
                 "b[y * n + x] = s;"),
      (Texts{"(int)blockIdx.x * 32 + 33 < n", "(int)blockIdx.x * 32 >= 2"}));
}

// The inner loop's end is the outer counter: j is at most n - 2.
TEST_F(InteriorTest, EndsMayBeOuterCounters) {
  EXPECT_EQ(conditions("float s = 0.0f;\n"
                       "for (int i = 0; i < n; ++i)\n"
                       "  for (int j = 0; j < i; ++j)\n"
                       "    if (j + (int)threadIdx.x < h) s += a[j];\n"
                       "b[threadIdx.x] = s;"),
            (Texts{"n + 29 < h"}));
  EXPECT_EQ(conditions("float s = 0.0f;\n"
                       "for (int i = 0; i < n; ++i)\n"
                       "  for (int j = i; j < n; ++j)\n"
                       "    if (j - i < h) s += a[j];\n"
                       "b[threadIdx.x] = s;"),
            (Texts{"n < h + 1"}))
      << reason();
}

TEST_F(InteriorTest, LoopsOfOneNameOverDifferentRangesSayNothing) {
  const std::string loops =
      "float s = 0.0f;\n"
      "for (int d = 0; d < 2; ++d) if (d + (int)threadIdx.x < n) s += a[d];\n"
      "for (int d = 0; d < %; ++d) if (d + (int)threadIdx.x < n) s += a[d];\n"
      "b[threadIdx.x] = s;";
  const auto with = [&](const std::string& end) {
    std::string text = loops;
    return text.replace(text.find('%'), 1, end);
  };
  EXPECT_EQ(conditions(with("2")), (Texts{"32 < n"}));
  for (const Texts& found : {conditions(with("5")), conditions(with("h"))}) {
    // Either the names are told apart, or nothing is known: the shorter range is not enough.
    EXPECT_TRUE(found.empty() || found.size() == 2U) << found.front();
  }
  // The second one is no counted loop.
  const Texts doubled = conditions(
      "float s = 0.0f;\n"
      "for (int d = 1; d < 3; ++d) if (d + (int)threadIdx.x < n) s += a[d];\n"
      "for (int d = 1; d < n; d *= 2) if (d + (int)threadIdx.x < h) s += a[d];\n"
      "b[threadIdx.x] = s;");
  for (const std::string& condition : doubled)
    EXPECT_EQ(condition.find('h'), std::string::npos) << condition;
}

TEST_F(InteriorTest, ComparisonsWithoutSignsAskForTheSignToo) {
  EXPECT_EQ(conditions("unsigned x = blockIdx.x * blockDim.x + threadIdx.x;\n"
                       "if (x - 1u < (unsigned)n - 2u) b[x] = 1.0f;"),
            (Texts{"(int)blockIdx.x * 32 + 32 < n", "(int)blockIdx.x * 32 >= 1", "n >= 2"}));
  EXPECT_EQ(
      conditions("unsigned x = blockIdx.x * blockDim.x + threadIdx.x;\nif (x < n) b[x] = 1.0f;"),
      (Texts{"(int)blockIdx.x * 32 + 31 < n", "n >= 0"}));
}

// -3 + 0 is no larger than m, whatever type m has.
TEST_F(InteriorTest, ConditionsAreSignedWhateverTheParametersAre) {
  const Texts found = conditions(
      "int x = blockIdx.x * blockDim.x + threadIdx.x - h;\n"
      "if (x >= (int)m) b[threadIdx.x] = 1.0f;",
      ", unsigned m");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].find("(long long)"), 0U) << found[0];
}

// Numbers that are cut, or widened after a subtraction without signs, are not what their polynomial
// says.
TEST_F(InteriorTest, LeavesNumbersThatLoseBits) {
  for (const char* body :
       {"int x = blockIdx.x * 32 + threadIdx.x;\nif ((unsigned char)x < n) b[x] = 1.0f;",
        "short x = blockIdx.x * 32 + threadIdx.x;\nif (x < n) b[threadIdx.x] = 1.0f;",
        "unsigned char x = blockIdx.x * 32 + threadIdx.x;\nint y = x + 1;\nif (y < n) "
        "b[threadIdx.x] = 1.0f;",
        "long long x = blockIdx.x * 32 + threadIdx.x - 1;\nif (x < n) b[threadIdx.x] = 1.0f;"}) {
    EXPECT_EQ(conditions(body), Texts{}) << body;
  }
  EXPECT_EQ(conditions("size_t x = blockIdx.x * blockDim.x + threadIdx.x;\nif (x < n) b[x] = 1.0f;")
                .size(),
            2U);
}

TEST_F(InteriorTest, LeavesWhatNoBlockCanTell) {
  for (const char* condition : {"x == n", "a[x] < 3.0f", "x < (int)a[0]", "x * n < h", "x % 3 < 2",
                                "x / 4 < n", "x < n || y < h", "!(x < n)", "blockIdx.x < n",
                                "n < h", "x - x < n", "threadIdx.x * threadIdx.x < n"}) {
    EXPECT_EQ(conditions(std::string(kPlace) + "if (" + condition + ") b[y * 64 + x] = 1.0f;"),
              Texts{})
        << condition;
    EXPECT_NE(reason().find("no condition compares"), std::string::npos) << reason();
  }
}

TEST_F(InteriorTest, AProductOfPlacesIsLargestWhereBothAre) {
  EXPECT_EQ(conditions(std::string(kPlace) + "if (x * y < n) b[y * 64 + x] = 1.0f;"),
            Texts{"(int)blockIdx.y * 124 + (int)blockIdx.x * (int)blockIdx.y * 128 + "
                  "(int)blockIdx.x * 96 + 93 < n"});
}

// Inside, a place is above a number that it must not be, and below a size.
TEST_F(InteriorTest, TakesInequalitiesForOrders) {
  EXPECT_EQ(conditions(std::string(kPlace) + "if (x != 0) b[y * 64 + x] = 1.0f;"),
            Texts{"(int)blockIdx.x * 32 > 0"});
  EXPECT_EQ(conditions(std::string(kPlace) + "if (n - 1 != x) b[y * 64 + x] = 1.0f;").size(), 1U);
}

// Names that change, or come from memory, are not known where the block asks.
TEST_F(InteriorTest, LeavesWhatIsOnlyKnownInside) {
  for (const char* body :
       {"int x = threadIdx.x;\nwhile (a[x] > 2.0f) ++x;\nif (x < n) b[x] = 1.0f;",
        "int x = (int)a[blockIdx.x] + threadIdx.x;\nif (x < n) b[threadIdx.x] = 1.0f;",
        "int end = (int)a[0];\nfloat s = 0.0f;\n"
        "for (int i = 0; i < end; ++i) if (i + (int)threadIdx.x < n) s += a[i];\nb[threadIdx.x] = "
        "s;",
        "if (a[0] > 0.0f) n = 7;\nif ((int)threadIdx.x < n) b[threadIdx.x] = 1.0f;"}) {
    EXPECT_EQ(conditions(body), Texts{}) << body;
  }
}

TEST_F(InteriorTest, ATermThatIsNotImpliedStandsAlone) {
  EXPECT_EQ(conditions(std::string(kPlace) + "if (x < n && a[x] > 0.5f && y == 3) b[x] = 1.0f;"),
            (Texts{"(int)blockIdx.x * 32 + 31 < n"}));
  EXPECT_EQ(implied_count(), 1U);
}

TEST_F(InteriorTest, TooManyConditionsDoNotPay) {
  std::string body = kPlace;
  // At no fixed distance from each other, which would make them a loop.
  for (int i = 1; i <= 17; ++i) {
    const std::string place = "x + " + std::to_string(i * i);
    body += "if (" + place + " < n) b[" + place + "] = 1.0f;\n";
  }
  EXPECT_EQ(conditions(body), Texts{});
  EXPECT_NE(reason().find("17 conditions"), std::string::npos) << reason();
}

TEST(HasInteriorVersion, IsOneBranchWithBothParts) {
  const auto kernel = sample("five_point_stencil");
  ASSERT_NE(kernel, nullptr);
  EXPECT_FALSE(rewrite::has_interior_version(kernel->original().unit.kernel.body));
  const auto split = kernel->apply(kernel->original(), "branch_hoist", {{"form", "split"}});
  ASSERT_TRUE(split.ok()) << split.error().message;
  EXPECT_TRUE(rewrite::has_interior_version(split->unit.kernel.body));
}

}  // namespace
}  // namespace regraph::test::interior_test
