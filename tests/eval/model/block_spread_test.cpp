#include "eval/model/block_spread.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace regraph::block_spread_test {
namespace {

TEST(SpreadBlocks, AreAllOfASmallGrid) {
  std::vector<std::uint64_t> blocks = spread_blocks(7, 24);
  std::sort(blocks.begin(), blocks.end());
  EXPECT_EQ(blocks, (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6}));
}

TEST(SpreadBlocks, LieOneInEachPartOfTheGrid) {
  for (const std::uint64_t grid : {std::uint64_t{24}, std::uint64_t{25}, std::uint64_t{47},
                                   std::uint64_t{1000}, std::uint64_t{1} << 40}) {
    const std::vector<std::uint64_t> blocks = spread_blocks(grid, 24);
    EXPECT_EQ(std::set<std::uint64_t>(blocks.begin(), blocks.end()).size(), 24U) << grid;
    std::vector<std::uint64_t> sorted = blocks;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_LT(sorted.back(), grid);
    // A part is no more than one block longer than another.
    for (std::uint64_t part = 0; part < 24; ++part) {
      EXPECT_GE(sorted[part] + 1, grid / 24 * part) << grid;
      EXPECT_LE(sorted[part], (grid / 24 + 1) * (part + 1)) << grid;
    }
  }
}

// A look that ends early has still been everywhere.
TEST(SpreadBlocks, TheFirstFewAreOfEverywhere) {
  const std::vector<std::uint64_t> blocks = spread_blocks(24000, 24);
  const auto [least, most] = std::minmax_element(blocks.begin(), blocks.begin() + 6);
  EXPECT_LT(*least, 8000U);
  EXPECT_GT(*most, 16000U);
}

}  // namespace
}  // namespace regraph::block_spread_test
