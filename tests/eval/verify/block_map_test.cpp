#include "eval/verify/block_map.h"

#include <gtest/gtest.h>

#include <functional>

namespace regraph::verify::block_map_test {
namespace {

// Which elements of argument 1 a block writes.
using Writes = std::function<std::vector<std::uint64_t>(std::uint64_t x, std::uint64_t y)>;

BlockRecord record_of(const Dim3& grid, std::uint64_t block, const Writes& writes) {
  BlockRecord record;
  record.block = block;
  for (const std::uint64_t element : writes(block % grid.x, block / grid.x))
    record.written.push_back({1, element, element + 1});
  join(record.written);
  return record;
}

BlockMap learn(const Dim3& grid, const Writes& writes) {
  const Neighbourhood near = neighbourhood_of(grid);
  std::vector<BlockRecord> records = {record_of(grid, near.middle, writes)};
  for (const auto& next : near.next)
    if (next) records.push_back(record_of(grid, *next, writes));
  std::vector<const BlockRecord*> all;
  for (const BlockRecord& record : records)
    all.push_back(&record);
  return BlockMap(grid, 2, all);
}

// Every block is explained, and found for every element that it writes.
void expect_all(const Dim3& grid, const Writes& writes) {
  const BlockMap map = learn(grid, writes);
  for (std::uint64_t block = 0; block < grid.count(); ++block) {
    const BlockRecord record = record_of(grid, block, writes);
    EXPECT_TRUE(map.explains(record)) << block;
    for (const std::uint64_t element : writes(block % grid.x, block / grid.x)) {
      const auto found = map.blocks_of(1, element);
      EXPECT_NE(std::find(found.begin(), found.end(), block), found.end()) << element;
    }
  }
}

TEST(BlockMap, FindsBlocksOfAVector) {
  expect_all({40, 1, 1}, [](std::uint64_t x, std::uint64_t) {
    std::vector<std::uint64_t> elements;
    for (std::uint64_t e = x * 32; e < std::min<std::uint64_t>(x * 32 + 32, 1270); ++e)
      elements.push_back(e);
    return elements;
  });
}

TEST(BlockMap, FindsBlocksThatGoBackwards) {
  expect_all({40, 1, 1}, [](std::uint64_t x, std::uint64_t) {
    std::vector<std::uint64_t> elements;
    for (std::uint64_t e = 0; e < 32; ++e)
      elements.push_back((39 - x) * 32 + e);
    return elements;
  });
}

TEST(BlockMap, FindsTilesOfAMatrixWithAnEdge) {
  expect_all({9, 7, 1}, [](std::uint64_t x, std::uint64_t y) {
    std::vector<std::uint64_t> elements;
    for (std::uint64_t r = y * 4; r < std::min<std::uint64_t>(y * 4 + 4, 27); ++r)
      for (std::uint64_t c = x * 8; c < std::min<std::uint64_t>(x * 8 + 8, 70); ++c)
        elements.push_back(r * 70 + c);
    return elements;
  });
}

TEST(BlockMap, FindsBlocksThatStrideOverTheWhole) {
  expect_all({16, 1, 1}, [](std::uint64_t x, std::uint64_t) {
    std::vector<std::uint64_t> elements;
    for (std::uint64_t e = x * 8; e < 1280; e += 128)
      for (std::uint64_t i = 0; i < 8; ++i)
        elements.push_back(e + i);
    return elements;
  });
}

TEST(BlockMap, KnowsWhatItCannotExplain) {
  const Dim3 grid{32, 1, 1};
  const auto plain = [](std::uint64_t x, std::uint64_t) {
    return std::vector<std::uint64_t>{x * 2, x * 2 + 1};
  };
  const BlockMap map = learn(grid, plain);
  BlockRecord other = record_of(grid, 20, plain);
  EXPECT_TRUE(map.explains(other));
  other.written.back().end += 1;
  EXPECT_FALSE(map.explains(other));
  // No distance from block to block.
  const BlockMap shuffled = learn(grid, [](std::uint64_t x, std::uint64_t) {
    return std::vector<std::uint64_t>{x * x, x * x + 1 + x % 2 * 3};
  });
  EXPECT_TRUE(shuffled.blocks_of(1, 4).empty());
  EXPECT_TRUE(map.blocks_of(0, 4).empty());
}

}  // namespace
}  // namespace regraph::verify::block_map_test
