#include "eval/verify/test_cases.h"

#include "eval/verify/verifier_test_support.h"

#include <algorithm>

namespace regraph::verify::test_cases_test {
namespace {

using test::pointer;
using test::problem_of;
using test::scalar;

Problem scaled(const std::string& more = "", ScalarType type = ScalarType::f32) {
  return problem_of(
      "sizes: {n: 100000, w: 5}\nargs: {x: {shape: [n]}, y: {dir: out, shape: [n]}, "
      "a: 2.5, m: 3}\nlaunch: {block: 128, grid: \"cdiv(n, bx)\"}\n"
      "tests: [{n: 1}, {n: 4096}, {n: 257}]\n" +
          more,
      {pointer("x", true, type), pointer("y", false, type), scalar("a", ScalarType::f32),
       scalar("m"), scalar("n"), scalar("w")});
}

bool has(const std::vector<TestCase>& cases, const std::string& variation) {
  return std::ranges::any_of(cases,
                             [&](const TestCase& one) { return one.variation == variation; });
}
bool has(const std::vector<TestCase>& cases, Distribution distribution) {
  return std::ranges::any_of(cases,
                             [&](const TestCase& one) { return one.distribution == distribution; });
}

TEST(TestCases, ComeFromTheManifestFirstSmallSizesBeforeLargeOnes) {
  const Problem problem = scaled();
  const std::vector<TestCase> cases = planned_cases(problem, 1);
  EXPECT_EQ(cases[0].symbols.at("n"), 1);
  EXPECT_TRUE(cases[0].is_first);
  std::size_t given = 0;
  while (given < cases.size() && !cases[given].is_beyond) {
    EXPECT_TRUE(cases[given].must_run);
    EXPECT_EQ(cases[given].varied, nullptr);
    ++given;
  }
  EXPECT_EQ(given, 3 * choose_distributions(problem).size());
  for (std::size_t i = given; i < cases.size(); ++i) {
    EXPECT_TRUE(cases[i].is_beyond);
    EXPECT_FALSE(cases[i].must_run);
    EXPECT_FALSE(cases[i].is_first);
  }
}

TEST(TestCases, VaryScalarsOneAtATime) {
  const std::vector<TestCase> cases = planned_cases(scaled(), 1);
  for (const char* variation : {"a = -3.125", "a = 0", "m = 4", "m = -5", "m = 0"})
    EXPECT_TRUE(has(cases, variation)) << variation;
  const auto one = std::ranges::find(cases, "m = 4", &TestCase::variation);
  ASSERT_NE(one, cases.end());
  EXPECT_EQ(one->varies, "m");
  EXPECT_EQ(one->varied->arguments[3].value->text(), "4");
  EXPECT_EQ(one->varied->arguments[2].value->text(), "2.5");
  EXPECT_EQ(one->symbols.at("n"), 257);
}

TEST(TestCases, LeaveFixedScalarsAlone) {
  const Problem problem = scaled("assume: {fixed: [a]}\n");
  EXPECT_FALSE(has(planned_cases(problem, 1), "a = 0"));
  EXPECT_TRUE(has(planned_cases(problem, 1), "m = 4"));
  const std::vector<std::string> fixed = fixed_by_manifest(problem);
  EXPECT_NE(std::ranges::find(fixed, "a = 2.5, as the manifest says (assume.fixed)"), fixed.end());
  EXPECT_NE(std::ranges::find(fixed, "w = 5, at all sizes"), fixed.end());
  EXPECT_NE(std::ranges::find(fixed, "sizes are at least 1 and at most n = 100000"), fixed.end());
}

TEST(TestCases, HaveSpecialValuesUnlessInputsAreFinite) {
  EXPECT_TRUE(has(planned_cases(scaled(), 1), Distribution::not_finite));
  const Problem finite = scaled("assume: {finite: true}\n");
  EXPECT_FALSE(has(planned_cases(finite, 1), Distribution::not_finite));
  EXPECT_FALSE(has(planned_cases(finite, 1), Distribution::denormals));
  EXPECT_TRUE(has(planned_cases(finite, 1), Distribution::magnitudes));
}

// What is left over by vectors of eight is seven elements.
TEST(TestCases, RepeatSpecialValuesWhereMuchIsLeftOver) {
  const std::vector<TestCase> cases = planned_cases(scaled(), 1);
  for (const Distribution distribution :
       {Distribution::infinite, Distribution::not_finite, Distribution::small_or_large}) {
    EXPECT_EQ(std::ranges::count_if(cases,
                                    [&](const TestCase& one) {
                                      return one.distribution == distribution &&
                                             one.symbols.at("n") == 263;
                                    }),
              8);
  }
  const Problem finite = scaled("assume: {finite: true}\n");
  EXPECT_FALSE(has(planned_cases(finite, 1), Distribution::small_or_large));
  const Problem less_precise = scaled("assume: {precision: any}\n");
  EXPECT_FALSE(has(planned_cases(less_precise, 1), Distribution::small_or_large));
  EXPECT_TRUE(has(planned_cases(less_precise, 1), Distribution::not_finite));
}

// Kernels with vectors go another way where the length is a multiple of theirs.
TEST(TestCases, VaryAtASizeWithARemainderAndAtOneWithout) {
  const auto lengths = [](const std::string& tests) {
    const Problem problem = problem_of(
        "sizes: {n: 4096, w: 5}\nargs: {x: {shape: [n]}, y: {dir: out, shape: [n]}}\n"
        "launch: {block: 128, grid: \"cdiv(n, bx)\"}\ntests: " +
            tests,
        {pointer("x", true), pointer("y", false), scalar("n"), scalar("w")});
    std::vector<std::int64_t> values;
    for (const Symbols& symbols : variation_sizes(problem)) {
      values.push_back(symbols.at("n"));
      EXPECT_EQ(symbols.at("w"), 5);
    }
    return values;
  };
  EXPECT_EQ(lengths("[{n: 257}, {n: 1}]"), (std::vector<std::int64_t>{257, 272}));
  EXPECT_EQ(lengths("[{n: 256}, {n: 301}]"), (std::vector<std::int64_t>{256, 257}));
  EXPECT_EQ(lengths("[{n: 256}]"), (std::vector<std::int64_t>{256, 512}));
  // Not beyond what is given.
  EXPECT_EQ(lengths("[{n: 250}, {n: 17}]\nbench: [{n: 17}]"), (std::vector<std::int64_t>{17, 32}));
  EXPECT_EQ(lengths("[{n: 250}]\nbench: [{n: 255}]"), (std::vector<std::int64_t>{250, 251}));
  EXPECT_EQ(lengths("[{n: 250}]\nbench: [{n: 250}]"), (std::vector<std::int64_t>{250}));
  const std::vector<TestCase> cases = planned_cases(scaled(), 1);
  for (const std::int64_t n : {257, 272}) {
    EXPECT_TRUE(std::ranges::any_of(cases, [&](const TestCase& one) {
      return one.distribution == Distribution::not_finite && one.symbols.at("n") == n;
    })) << n;
  }
}

// The verdict says so: "w = 17, at all sizes".
TEST(TestCases, NeverVaryALengthThatIsTheSameAtAllSizes) {
  const Problem problem = problem_of(
      "sizes: {n: 4096, w: 17}\nargs: {x: {shape: [n]}, f: {shape: [w]}, y: {dir: out, shape: "
      "[n]}}\n"
      "launch: {block: 128, grid: \"cdiv(n, bx)\"}\ntests: [{n: 257, w: 17}, {n: 1, w: 17}]\n",
      {pointer("x", true), pointer("f", true), pointer("y", false), scalar("n"), scalar("w")});
  for (const TestCase& one : planned_cases(problem, 1))
    EXPECT_EQ(one.symbols.at("w"), 17);
  EXPECT_EQ(variation_sizes(problem).size(), 2U);
  const std::vector<std::string> fixed = fixed_by_manifest(problem);
  EXPECT_NE(std::ranges::find(fixed, "w = 17, at all sizes"), fixed.end());
  EXPECT_NE(std::ranges::find(fixed, "sizes are at least 1 and at most n = 4096"), fixed.end());
}

TEST(TestCases, VaryIntegersThatNobodyGave) {
  const std::vector<TestCase> guessed = planned_cases(scaled("", ScalarType::i32), 1);
  EXPECT_TRUE(has(guessed, Distribution::negative_integers));
  EXPECT_TRUE(has(guessed, Distribution::extreme_integers));
  EXPECT_TRUE(has(guessed, "with values of scalars and numbers of the source"));
  Problem given = scaled("", ScalarType::i32);
  given.arguments[0].init_is_given = true;
  const std::vector<TestCase> cases = planned_cases(given, 1);
  EXPECT_FALSE(has(cases, Distribution::extreme_integers));
  EXPECT_TRUE(has(cases, "equal integers"));
}

TEST(TestCases, OverlapWhereTheProblemAllowsIt) {
  EXPECT_FALSE(has(planned_cases(scaled(), 1), "'y' begins where 'x' does"));
  const std::vector<TestCase> cases = planned_cases(scaled("assume: {noalias: false}\n"), 1);
  for (const char* variation :
       {"'y' begins where 'x' does", "'y' begins 1 element after 'x'",
        "'y' begins 4 elements after 'x'", "'x' begins 1 element after 'y'"}) {
    const auto one = std::ranges::find(cases, variation, &TestCase::variation);
    ASSERT_NE(one, cases.end()) << variation;
    EXPECT_TRUE(one->may_not_race);
    const Problem& problem = *one->varied;
    const bool y_is_inside = problem.arguments[1].overlaps == "x";
    EXPECT_TRUE(y_is_inside || problem.arguments[0].overlaps == "y");
    const Argument& both = problem.arguments[y_is_inside ? 0 : 1];
    EXPECT_EQ(both.direction, Direction::inout);
    EXPECT_GE(*both.element_count(one->symbols), 257);
  }
}

TEST(TestCases, DrawSizesThatTheSeedDecidesAndTheManifestAllows) {
  const Problem problem = problem_of(
      "sizes: {n: 100000}\nargs: {x: {shape: [n]}, y: {dir: out, shape: [n]}}\nlaunch: "
      "{block: 128, grid: \"cdiv(n, bx)\"}\ntests: [{n: 64}, {n: 4096}]\nbench: [{n: "
      "96000}]\n",
      {pointer("x", true), pointer("y", false), scalar("n")});
  const SizeRule rule = size_rule(problem, "n");
  EXPECT_EQ(rule.divisor, 64);
  EXPECT_TRUE(rule.allows(192));
  EXPECT_FALSE(rule.allows(100));
  std::set<std::int64_t> drawn;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (const TestCase& one : planned_cases(problem, seed)) {
      const std::int64_t n = one.symbols.at("n");
      if (n == 64 || n == 4096) continue;
      EXPECT_TRUE(one.is_beyond);
      EXPECT_EQ(n % 64, 0);
      EXPECT_GE(n, 64);
      EXPECT_LE(n, 96000);
      drawn.insert(n);
    }
  }
  EXPECT_GT(drawn.size(), 10U);
}

TEST(TestCases, HaveOneOfEachLengthWithAllItsBits) {
  const std::vector<TestCase> cases = planned_cases(scaled(), 1);
  EXPECT_TRUE(
      std::ranges::any_of(cases, [](const TestCase& one) { return one.symbols.at("n") == 16383; }));
}

TEST(TestCases, GiveOneRowOfASparseMatrixNearlyAll) {
  const Problem problem = problem_of(
      "sizes: {r: 2000, e: 20000}\nargs: {o: {shape: [r + 1], init: csr_offsets(e)}, y: {dir: out, "
      "shape: [r]}}\nlaunch: {block: 128, grid: \"cdiv(r, bx)\"}\ntests: [{r: 100, e: 900}]\n",
      {pointer("o", true, ScalarType::i32), pointer("y", false), scalar("r")});
  const std::vector<TestCase> cases = planned_cases(problem, 1);
  const auto one = std::ranges::find(cases, "one row of 'o' has nearly all", &TestCase::variation);
  ASSERT_NE(one, cases.end());
  std::vector<std::int32_t> offsets(101);
  fill_input(*one->varied, one->varied->arguments[0], one->symbols, one->distribution, 1, 0,
             std::as_writable_bytes(std::span(offsets)));
  EXPECT_EQ(offsets.back(), 900);
  EXPECT_TRUE(std::ranges::is_sorted(offsets));
  std::int32_t most = 0;
  for (std::size_t i = 1; i < offsets.size(); ++i)
    most = std::max(most, offsets[i] - offsets[i - 1]);
  EXPECT_GE(most, 810);
}

TEST(TestCases, KeepPowersOfTwoWhereNoLengthDependsOnThem) {
  const Problem problem = problem_of(
      "sizes: {n: 4096, j: 4}\nargs: {x: {shape: [n]}, y: {dir: out, shape: [n]}}\nlaunch: {block: "
      "128, grid: \"cdiv(n, bx)\"}\ntests: [{n: 100, j: 2}, {n: 77, j: 16}]\n",
      {pointer("x", true), pointer("y", false), scalar("n"), scalar("j")});
  EXPECT_TRUE(size_rule(problem, "j").allows(8));
  EXPECT_FALSE(size_rule(problem, "j").allows(12));
  EXPECT_TRUE(size_rule(problem, "n").allows(81));
  for (const TestCase& one : planned_cases(problem, 3))
    EXPECT_TRUE(one.symbols.at("j") == 2 || one.symbols.at("j") == 16);
}

}  // namespace
}  // namespace regraph::verify::test_cases_test
