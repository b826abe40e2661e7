#include "search/transposition_table.h"

#include "base/random.h"

#include <gtest/gtest.h>

namespace regraph::transposition_table_test {
namespace {

TEST(TranspositionTable, FindsWhatWasAddedAndNothingElse) {
  TranspositionTable table;
  std::vector<Hash128> identities;
  EXPECT_EQ(table.find({1, 2}, identities), TranspositionTable::kAbsent);
  constexpr std::uint32_t kEntries = 5000;
  for (std::uint32_t node = 0; node < kEntries; ++node) {
    identities.push_back({splitmix64(node), node});
    table.add(node, identities);
  }
  for (std::uint32_t node = 0; node < kEntries; ++node) {
    EXPECT_EQ(table.find(identities[node], identities), node);
    EXPECT_EQ(table.find({identities[node].low, node + kEntries}, identities),
              TranspositionTable::kAbsent);
  }
}

TEST(TranspositionTable, SurvivesEqualLowHalves) {
  TranspositionTable table;
  std::vector<Hash128> identities;
  for (std::uint32_t node = 0; node < 300; ++node) {
    identities.push_back({42, node});
    table.add(node, identities);
  }
  EXPECT_EQ(table.find({42, 299}, identities), 299U);
  EXPECT_EQ(table.find({42, 300}, identities), TranspositionTable::kAbsent);
}

TEST(TranspositionTable, ReservingKeepsEntries) {
  TranspositionTable table;
  std::vector<Hash128> identities = {{7, 7}};
  table.add(0, identities);
  table.reserve(10000, identities);
  EXPECT_EQ(table.find({7, 7}, identities), 0U);
  EXPECT_GE(table.allocated_bytes(), 10000 * sizeof(std::uint32_t));
}

}  // namespace
}  // namespace regraph::transposition_table_test
