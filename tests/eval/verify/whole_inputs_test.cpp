#include "eval/verify/element.h"
#include "eval/verify/inputs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>

namespace regraph::verify::whole_inputs_test {
namespace {

using Kind = BufferInit::Kind;

Argument buffer(const std::string& name, ScalarType type, const std::string& length,
                BufferInit init) {
  Argument argument;
  argument.name = name;
  argument.type = type;
  argument.is_pointer = true;
  argument.shape = {*IntegerExpression::parse(length)};
  argument.init = std::move(init);
  return argument;
}

BufferInit up_to(Kind kind, const std::string& expression) {
  BufferInit init{kind};
  init.high_expression = *IntegerExpression::parse(expression);
  return init;
}

Problem sparse() {
  Problem problem;
  problem.sizes = {{"rows", 300}, {"cols", 50}, {"nnz", 4000}};
  problem.arguments = {
      buffer("other", ScalarType::i32, "rows + 1", up_to(Kind::csr_offsets, "rows")),
      buffer("offsets", ScalarType::i32, "rows + 1", up_to(Kind::csr_offsets, "nnz")),
      buffer("columns", ScalarType::i64, "nnz", up_to(Kind::csr_columns, "cols")),
      buffer("order", ScalarType::u16, "rows", {Kind::permutation}),
      buffer("zeros", ScalarType::f32, "rows", {Kind::constant, 0.0}),
      buffer("index", ScalarType::i32, "rows", up_to(Kind::integers, "cols - 1")),
  };
  return problem;
}

std::vector<double> values(const Problem& problem, std::size_t index, const Symbols& symbols,
                           std::uint64_t seed,
                           Distribution distribution = Distribution::small_integers,
                           std::size_t more_bytes = 0) {
  const Argument& argument = problem.arguments[index];
  const std::size_t size = size_in_bytes(argument.type);
  const auto count = static_cast<std::size_t>(*argument.element_count(symbols));
  std::vector<std::byte> bytes(count * size + more_bytes);
  fill_input(problem, argument, symbols, distribution, seed, index, bytes);
  std::vector<double> result;
  for (std::size_t i = 0; i < count; ++i)
    result.push_back(load_element(argument.type, bytes.data() + i * size));
  return result;
}

const std::vector<Symbols> kSizes = {{{"rows", 300}, {"cols", 50}, {"nnz", 4000}},
                                     {{"rows", 1}, {"cols", 1}, {"nnz", 1}},
                                     {{"rows", 7}, {"cols", 3}, {"nnz", 100}},
                                     {{"rows", 1000}, {"cols", 9}, {"nnz", 5}}};

TEST(WholeInputs, OffsetsLeadFromNothingToEverything) {
  const Problem problem = sparse();
  for (const Symbols& symbols : kSizes) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      const auto offsets = values(problem, 1, symbols, seed);
      EXPECT_EQ(offsets.front(), 0.0);
      EXPECT_EQ(offsets.back(), static_cast<double>(symbols.at("nnz")));
      EXPECT_TRUE(std::is_sorted(offsets.begin(), offsets.end()));
    }
  }
}

TEST(WholeInputs, SomeRowsAreEmptyAndSomeLong) {
  const Problem problem = sparse();
  const auto offsets = values(problem, 1, kSizes[0], 1);
  std::size_t empty = 0;
  double longest = 0.0;
  for (std::size_t row = 0; row + 1 < offsets.size(); ++row) {
    empty += offsets[row] == offsets[row + 1] ? 1 : 0;
    longest = std::max(longest, offsets[row + 1] - offsets[row]);
  }
  EXPECT_GT(empty, 30U);
  EXPECT_LT(empty, 150U);
  EXPECT_GT(longest, 4.0 * 4000.0 / 300.0);
  EXPECT_EQ(values(problem, 1, kSizes[0], 1), offsets);
  EXPECT_NE(values(problem, 1, kSizes[0], 2), offsets);
}

TEST(WholeInputs, ColumnsAscendInEveryRow) {
  const Problem problem = sparse();
  for (const Symbols& symbols : kSizes) {
    const auto columns_there = static_cast<double>(symbols.at("cols"));
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto offsets = values(problem, 1, symbols, seed);
      const auto columns = values(problem, 2, symbols, seed);
      for (std::size_t row = 0; row + 1 < offsets.size(); ++row) {
        const auto begin = columns.begin() + static_cast<std::ptrdiff_t>(offsets[row]);
        const auto end = columns.begin() + static_cast<std::ptrdiff_t>(offsets[row + 1]);
        EXPECT_TRUE(std::is_sorted(begin, end));
        if (end - begin <= symbols.at("cols")) {
          EXPECT_EQ(std::set<double>(begin, end).size(), static_cast<std::size_t>(end - begin));
        }
        for (auto column = begin; column != end; ++column) {
          EXPECT_GE(*column, 0.0);
          EXPECT_LT(*column, columns_there);
        }
      }
    }
  }
  EXPECT_NE(values(problem, 2, kSizes[0], 1), values(problem, 2, kSizes[0], 2));
}

TEST(WholeInputs, APermutationHasEveryIndexOnce) {
  const Problem problem = sparse();
  for (const Symbols& symbols : kSizes) {
    auto order = values(problem, 3, symbols, 4);
    EXPECT_EQ(std::is_sorted(order.begin(), order.end()), symbols.at("rows") == 1);
    std::sort(order.begin(), order.end());
    for (std::size_t i = 0; i < order.size(); ++i)
      EXPECT_EQ(order[i], static_cast<double>(i));
  }
  EXPECT_NE(values(problem, 3, kSizes[0], 1), values(problem, 3, kSizes[0], 2));
}

TEST(WholeInputs, TheRoomBehindThemDoesNotChangeThem) {
  const Problem problem = sparse();
  for (std::size_t argument = 1; argument < 4; ++argument) {
    EXPECT_EQ(values(problem, argument, kSizes[0], 1),
              values(problem, argument, kSizes[0], 1, Distribution::manifest, 4096));
  }
}

TEST(WholeInputs, BoundsFollowTheSizes) {
  Problem problem = sparse();
  for (const Symbols& symbols : kSizes) {
    const auto index = values(problem, 5, symbols, 1);
    EXPECT_GE(*std::min_element(index.begin(), index.end()), 0.0);
    EXPECT_LT(*std::max_element(index.begin(), index.end()),
              static_cast<double>(symbols.at("cols")));
  }
  const auto many = values(problem, 5, {{"rows", 2000}, {"cols", 9}, {"nnz", 1}}, 1);
  EXPECT_EQ(std::set<double>(many.begin(), many.end()).size(), 9U);
}

TEST(WholeInputs, ConstantsAreTheSameInEveryDistribution) {
  Problem problem = sparse();
  for (const double constant : {0.0, 3.5}) {
    problem.arguments[4].init.low = constant;
    for (const Distribution distribution :
         {Distribution::small_integers, Distribution::manifest, Distribution::normal,
          Distribution::uniform, Distribution::large, Distribution::sparse, Distribution::captured,
          Distribution::perturbed, Distribution::exchanged}) {
      const auto all = values(problem, 4, kSizes[0], 3, distribution);
      EXPECT_EQ(std::set<double>(all.begin(), all.end()), std::set<double>{constant});
    }
  }
}

TEST(WholeInputs, FilesComeFirstAsTheyAre) {
  Problem problem = sparse();
  auto bytes = std::make_shared<std::vector<std::byte>>(300 * sizeof(float));
  for (std::size_t i = 0; i < 300; ++i)
    store_element(ScalarType::f32, 1000.0 + static_cast<double>(i), bytes->data() + i * 4);
  problem.arguments[4].init = {Kind::file};
  problem.arguments[4].init.content = {"x.bin", 0, bytes};
  const auto chosen = choose_distributions(problem);
  EXPECT_EQ(chosen.front(), Distribution::manifest);
  EXPECT_EQ(std::count(chosen.begin(), chosen.end(), Distribution::perturbed), 1);
  // No integers are from a file.
  EXPECT_EQ(std::count(chosen.begin(), chosen.end(), Distribution::exchanged), 0);
  EXPECT_TRUE(problem.has_given_data(kSizes[0]));
  // A smaller size takes the first elements.
  const auto first = values(problem, 4, kSizes[2], 3, Distribution::manifest);
  ASSERT_EQ(first.size(), 7U);
  for (std::size_t i = 0; i < first.size(); ++i)
    EXPECT_EQ(first[i], 1000.0 + static_cast<double>(i));
  EXPECT_NE(values(problem, 4, kSizes[2], 3, Distribution::perturbed), first);
}

}  // namespace
}  // namespace regraph::verify::whole_inputs_test
