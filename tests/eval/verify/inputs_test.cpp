#include "eval/verify/inputs.h"

#include "eval/verify/element.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace regraph::verify::inputs_test {
namespace {

Argument buffer(ScalarType type, BufferInit init = {}) {
  Argument argument;
  argument.name = "A";
  argument.type = type;
  argument.is_pointer = true;
  argument.shape = {IntegerExpression(1000)};
  argument.init = std::move(init);
  return argument;
}

std::vector<double> values(const Argument& argument, Distribution distribution, std::uint64_t seed,
                           std::size_t count) {
  std::vector<std::byte> bytes(count * size_in_bytes(argument.type));
  fill(argument, distribution, seed, 3, bytes);
  std::vector<double> result;
  for (std::size_t i = 0; i < count; ++i) {
    result.push_back(load_element(argument.type, bytes.data() + i * size_in_bytes(argument.type)));
  }
  return result;
}

double mean(const std::vector<double>& v) {
  double sum = 0.0;
  for (const double x : v)
    sum += x;
  return sum / static_cast<double>(v.size());
}

double deviation(const std::vector<double>& v) {
  const double m = mean(v);
  double sum = 0.0;
  for (const double x : v)
    sum += (x - m) * (x - m);
  return std::sqrt(sum / static_cast<double>(v.size()));
}

TEST(Inputs, TheLastElementsAreOftenNotFinite) {
  constexpr std::size_t kLast = 8;
  for (const Distribution one : {Distribution::infinite, Distribution::not_finite}) {
    int at_the_end = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      const std::vector<double> v = values(buffer(ScalarType::f32), one, seed, 1000);
      at_the_end += static_cast<int>(
          std::count_if(v.end() - kLast, v.end(), [](double x) { return !std::isfinite(x); }));
    }
    EXPECT_GT(at_the_end, 50);
    EXPECT_LT(at_the_end, 200);
  }
}

TEST(Inputs, DenormalsLieBesideLargeNumbers) {
  for (const ScalarType type : {ScalarType::f32, ScalarType::f16, ScalarType::bf16}) {
    const std::vector<double> v = values(buffer(type), Distribution::denormals_and_large, 1, 1000);
    const double smallest = type == ScalarType::f16 ? 0x1p-14 : 0x1p-126;
    const double large = type == ScalarType::f16 ? 0x1p4 : 0x1p39;
    EXPECT_GT(std::count_if(v.begin(), v.end(),
                            [&](double x) { return x != 0.0 && std::abs(x) < smallest; }),
              600);
    EXPECT_GT(std::count_if(v.begin(), v.end(), [&](double x) { return x >= large; }), 150);
  }
}

TEST(Inputs, ZerosComeInLongRuns) {
  const std::vector<double> v = values(buffer(ScalarType::f32), Distribution::zero_runs, 1, 6400);
  std::size_t zeros = 0;
  std::size_t begins = 0;
  for (std::size_t i = 0; i < v.size(); ++i) {
    zeros += v[i] == 0.0 ? 1 : 0;
    begins += v[i] == 0.0 && i > 0 && v[i - 1] != 0.0 ? 1 : 0;
  }
  EXPECT_GT(zeros, 2000u);
  EXPECT_LT(zeros, 4400u);
  EXPECT_GE(zeros, 63 * begins);
}

TEST(Inputs, ABufferIsSmallLargeOrZeroAsAWhole) {
  int small = 0;
  int large = 0;
  int zero = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const std::vector<double> v =
        values(buffer(ScalarType::f32), Distribution::small_or_large, seed, 100);
    const auto most = *std::ranges::max_element(v, {}, [](double x) { return std::abs(x); });
    if (most == 0.0) {
      ++zero;
    } else if (std::abs(most) < 0x1p-126) {
      ++small;
    } else {
      ++large;
      EXPECT_TRUE(std::ranges::all_of(v, [](double x) { return x >= 0x1p39; }));
    }
  }
  EXPECT_GT(small, 10);
  EXPECT_GT(large, 10);
  EXPECT_GT(zero, 10);
}

TEST(Inputs, TheLargestAreFinite) {
  for (const ScalarType type : {ScalarType::f32, ScalarType::f16, ScalarType::bf16}) {
    const std::vector<double> v = values(buffer(type), Distribution::largest, 1, 1000);
    EXPECT_TRUE(std::ranges::all_of(v, [](double x) { return std::isfinite(x); }));
    EXPECT_GT(*std::ranges::max_element(v), type == ScalarType::f16 ? 0x1p15 : 0x1p127);
  }
}

TEST(Inputs, DistributionsAreWhatTheySay) {
  const Argument f32 = buffer(ScalarType::f32);
  const auto normal = values(f32, Distribution::normal, 1, 20000);
  EXPECT_NEAR(mean(normal), 0.0, 0.03);
  EXPECT_NEAR(deviation(normal), 1.0, 0.03);
  const auto uniform = values(f32, Distribution::uniform, 1, 20000);
  EXPECT_NEAR(mean(uniform), 0.5, 0.01);
  EXPECT_GE(*std::min_element(uniform.begin(), uniform.end()), 0.0);
  EXPECT_LT(*std::max_element(uniform.begin(), uniform.end()), 1.0 + 1e-6);
  const auto integers = values(f32, Distribution::small_integers, 1, 20000);
  EXPECT_EQ(std::set<double>(integers.begin(), integers.end()),
            (std::set<double>{-3, -2, -1, 0, 1, 2, 3}));
  const auto large = values(f32, Distribution::large, 1, 20000);
  EXPECT_GT(*std::max_element(large.begin(), large.end()), 1000.0);
  const auto sparse = values(f32, Distribution::sparse, 1, 20000);
  EXPECT_NEAR(static_cast<double>(std::count(sparse.begin(), sparse.end(), 0.0)), 15000.0, 800.0);
}

TEST(Inputs, ElementsDependOnSeedStreamAndIndexOnly) {
  const Argument f32 = buffer(ScalarType::f32);
  const auto longer = values(f32, Distribution::normal, 7, 2000);
  const auto shorter = values(f32, Distribution::normal, 7, 1000);
  EXPECT_TRUE(std::equal(shorter.begin(), shorter.end(), longer.begin()));
  EXPECT_NE(values(f32, Distribution::normal, 8, 1000), shorter);
  std::vector<std::byte> a(400);
  std::vector<std::byte> b(400);
  fill(f32, Distribution::normal, 7, 0, a);
  fill(f32, Distribution::normal, 7, 1, b);
  EXPECT_NE(a, b);
}

TEST(Inputs, IntegerBuffersStayInTheirRange) {
  const Argument indices = buffer(ScalarType::i32, {BufferInit::Kind::integers, 5.0, 9.0});
  for (const Distribution distribution : {Distribution::normal, Distribution::large,
                                          Distribution::sparse, Distribution::small_integers}) {
    const auto drawn = values(indices, distribution, 1, 1000);
    EXPECT_EQ(std::set<double>(drawn.begin(), drawn.end()), (std::set<double>{5, 6, 7, 8, 9}));
  }
  const auto iota =
      values(buffer(ScalarType::u32, {BufferInit::Kind::iota, 0, 1}), Distribution::large, 1, 5000);
  EXPECT_EQ(iota[4999], 4999.0);
}

TEST(Inputs, IntegersOfStructuresStayInTheirRange) {
  Argument cells = buffer(ScalarType::u8, {BufferInit::Kind::integers, 0.0, 15.0});
  cells.components = 12;
  cells.record_bytes = 12;
  cells.fields = {{"next", 0, ScalarType::i32},
                  {"weight", 4, ScalarType::f32},
                  {"kinds", 8, ScalarType::u16, 2}};
  std::vector<std::byte> bytes(12 * 500);
  fill_input({}, cells, {}, Distribution::normal, 1, 0, bytes);
  std::set<double> nexts;
  std::set<double> kinds;
  bool negative = false;
  for (std::size_t i = 0; i < 500; ++i) {
    nexts.insert(load_element(ScalarType::i32, bytes.data() + i * 12));
    negative = negative || load_element(ScalarType::f32, bytes.data() + i * 12 + 4) < 0.0;
    kinds.insert(load_element(ScalarType::u16, bytes.data() + i * 12 + 10));
  }
  EXPECT_EQ(nexts.size(), 16U);
  EXPECT_EQ(*nexts.rbegin(), 15.0);
  EXPECT_EQ(kinds.size(), 16U);
  EXPECT_TRUE(negative);
}

TEST(Inputs, HalfInputsAreFinite) {
  for (const ScalarType type : {ScalarType::f16, ScalarType::bf16}) {
    for (const double value : values(buffer(type), Distribution::large, 1, 5000)) {
      EXPECT_TRUE(std::isfinite(value));
    }
  }
}

TEST(Inputs, AtLeastFiveDistinctDistributionsAndAsManyAsAskedFor) {
  Problem problem;
  problem.arguments = {buffer(ScalarType::f32)};
  auto chosen = choose_distributions(problem);
  EXPECT_GE(std::set<Distribution>(chosen.begin(), chosen.end()).size(), 5u);
  EXPECT_EQ(chosen.front(), Distribution::small_integers);
  problem.arguments = {buffer(ScalarType::f32, {BufferInit::Kind::uniform, 1.0, 2.0})};
  chosen = choose_distributions(problem);
  EXPECT_EQ(std::set<Distribution>(chosen.begin(), chosen.end()).size(), 6u);
  problem.check.seeds = 20;
  EXPECT_EQ(choose_distributions(problem).size(), 20u);
}

}  // namespace
}  // namespace regraph::verify::inputs_test
