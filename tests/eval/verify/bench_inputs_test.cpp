#include "eval/verify/bench_inputs.h"

#include "eval/verify/element.h"
#include "eval/verify/verifier_test_support.h"

#include <algorithm>
#include <cmath>

namespace regraph::verify::bench_inputs_test {
namespace {

using test::pointer;
using test::problem_of;
using test::scalar;

Problem problem() {
  return problem_of(
      "sizes: {n: 1000000}\nargs: {x: {shape: [n]}, p: {shape: [n], init: "
      "\"int(3,90)\"}, y: {dir: out, shape: [n]}}\nlaunch: {block: 128, grid: "
      "\"cdiv(n, bx)\"}\n",
      {pointer("x", true), pointer("p", true, ScalarType::i32), pointer("y", false), scalar("n")});
}

template <typename Holds>
bool all_of(const std::vector<std::byte>& pattern, ScalarType type, const Holds& holds) {
  for (std::size_t at = 0; at < pattern.size(); at += size_in_bytes(type))
    if (!holds(load_element(type, pattern.data() + at))) return false;
  return !pattern.empty();
}

TEST(BenchInputs, AreIntegersWhereSumsMustBeExact) {
  const Problem one = problem();
  const BenchInputs inputs(one, one.sizes, 1);
  EXPECT_TRUE(all_of(inputs.patterns()[0], ScalarType::f32,
                     [](double v) { return v == std::floor(v) && std::abs(v) <= 3.0; }));
  EXPECT_TRUE(inputs.patterns()[2].empty());
  EXPECT_NE(BenchInputs(one, one.sizes, 2).patterns()[0], inputs.patterns()[0]);
}

TEST(BenchInputs, AreTheManifestsWhereTheyAreTimed) {
  const Problem one = problem();
  const BenchInputs inputs(one, one.sizes, 1, BenchData::timed);
  EXPECT_FALSE(
      all_of(inputs.patterns()[0], ScalarType::f32, [](double v) { return v == std::floor(v); }));
  EXPECT_FALSE(inputs.patterns()[2].empty());  // what the output holds before
  // The timing model's do not depend on the search's seed.
  EXPECT_EQ(BenchInputs(one, one.sizes, 2, BenchData::timed).patterns(), inputs.patterns());
  // No power of two is a multiple of the period.
  EXPECT_EQ(inputs.patterns()[0].size() % 4096, 0U);
  EXPECT_EQ(inputs.patterns()[0].size() / 4096 % 2, 1U);
}

TEST(BenchInputs, HaveOneIntegerEverywhereForCounters) {
  const Problem one = problem();
  ASSERT_TRUE(has_equal_data(one));
  const BenchInputs inputs(one, one.sizes, 1, BenchData::equal);
  EXPECT_TRUE(all_of(inputs.patterns()[1], ScalarType::i32, [](double v) { return v == 3.0; }));
  Problem floats = one;
  floats.arguments.erase(floats.arguments.begin() + 1);
  EXPECT_FALSE(has_equal_data(floats));
}

}  // namespace
}  // namespace regraph::verify::bench_inputs_test
