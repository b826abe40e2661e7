#include "dataset/data_set.h"

#include "base/files.h"
#include "dataset/sample_items.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regraph::dataset::data_set_test {
namespace {

class DataSetTest : public ::testing::Test {
 protected:
  DataSetTest() {
    for (const char* family : {"adding", "copying", "sorting", "hashing"}) {
      const auto problem = sample::problem(family, "k");
      collected.problems.push_back(problem);
      collected.pairs.push_back(sample::pair(problem, "loop_unroll"));
      const StateItem state = sample::state(problem, "loop_unroll");
      collected.states.push_back(state);
      collected.answers.push_back(sample::answer(state, 1.0, "fast"));
    }
    collected.considered = 9;
    collected.dropped["not reproduced"] = 5;
  }
  [[nodiscard]] std::string text_of(const std::string& file) const {
    const auto text = read_file(folder() / file, 1 << 20);
    return text ? *text : "";
  }
  [[nodiscard]] std::filesystem::path folder() const { return scratch.path() / "set"; }

  const TemporaryDirectory scratch = *TemporaryDirectory::create("regraph-data-set-");
  Collected collected;
};

TEST_F(DataSetTest, IsReadBackAndTheSameTwice) {
  const auto summary = write_data_set(folder(), collected, {});
  ASSERT_TRUE(summary.ok()) << summary.error().message;
  auto again = read_data_set(folder());
  ASSERT_TRUE(again.ok()) << again.error().message;
  for (PairRecord& pair : again->pairs) {
    EXPECT_EQ(pair.split, summary->splits.at(pair.family));
    pair.split.clear();
  }
  EXPECT_EQ(collected_text(*again), collected_text(collected));
  ASSERT_TRUE(score::StateRegistry::load(folder()).ok());
  const auto other = scratch.path() / "other";
  ASSERT_TRUE(write_data_set(other, collected, {}).ok());
  EXPECT_EQ(text_of(kChecksumsFile), *read_file(other / kChecksumsFile, 1 << 20));
}

TEST_F(DataSetTest, TheCardSaysWhatIsInIt) {
  DataSetOptions options;
  options.title = "Small: one";
  ASSERT_TRUE(write_data_set(folder(), collected, options).ok());
  const std::string card = text_of("README.md");
  EXPECT_EQ(card.substr(0, 4), "---\n");
  for (const char* part : {"pretty_name: \"Small: one\"", "4 pairs of 4 kernels in 4 families",
                           "- 5: not reproduced", "Of 9 pairs", "config_name: sft"}) {
    EXPECT_NE(card.find(part), std::string::npos) << part << " in\n" << card;
  }
}

TEST_F(DataSetTest, PairsThatDifferInNamesOnlyCountOnce) {
  PairRecord renamed = collected.pairs[0];
  renamed.description = "another";
  renamed.slow += "\n";
  renamed.id = pair_id(renamed);
  collected.pairs.push_back(renamed);
  const auto summary = write_data_set(folder(), collected, {});
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->dropped.at("like an earlier pair but for names, constants and layout"), 1);
  std::size_t pairs = 0;
  for (const auto& [split, rows] : summary->rows.at("pairs"))
    pairs += rows;
  EXPECT_EQ(pairs, 4U);
}

TEST_F(DataSetTest, AFolderWithSomethingInItIsLeftAlone) {
  ASSERT_TRUE(write_file(folder() / "mine.txt", "mine").ok());
  EXPECT_FALSE(write_data_set(folder(), collected, {}).ok());
  EXPECT_EQ(text_of("mine.txt"), "mine");
}

TEST_F(DataSetTest, NothingIsLeftWhereItCannotBeFinished) {
  const auto failed = write_data_set(folder(), collected, {}, [](const std::filesystem::path&) {
    return Status(fail(ErrorCode::resource, "no space left on device"));
  });
  ASSERT_FALSE(failed.ok());
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
}

TEST_F(DataSetTest, DamageIsSeen) {
  ASSERT_TRUE(write_data_set(folder(), collected, {}).ok());
  const std::string pairs = text_of("items.txt");
  ASSERT_TRUE(write_file(folder() / "items.txt", pairs + " ").ok());
  const auto read = read_data_set(folder());
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().message.find("items.txt"), std::string::npos);
  std::filesystem::remove(folder() / kChecksumsFile);
  EXPECT_EQ(read_data_set(folder()).error().code, ErrorCode::not_found);
}

TEST_F(DataSetTest, EqualPairsOfTwoSetsAreOne) {
  CollectionMerger merger;
  merger.add(collected);
  merger.add(collected);
  const Collected merged = std::move(merger).finish();
  EXPECT_EQ(merged.pairs.size(), collected.pairs.size());
  EXPECT_EQ(merged.states.size(), collected.states.size());
  EXPECT_EQ(merged.dropped.at("equal to another pair"), 4);
}

TEST_F(DataSetTest, DamagedCollectionsAreRefusedWithTheirLine) {
  const std::string text = collected_text(collected);
  EXPECT_NE(read_collected(text.substr(0, text.size() - 9), "c").error().message.find("c:"),
            std::string::npos);
  EXPECT_FALSE(read_collected("", "c").ok());
  EXPECT_FALSE(read_collected("regraph-collected/2\n", "c").ok());
  EXPECT_FALSE(read_collected("regraph-collected/1\npair {}\n", "c").ok());
  EXPECT_FALSE(read_collected("regraph-collected/1\ndropped {\"considered\":[]}\n", "c").ok());
}

}  // namespace
}  // namespace regraph::dataset::data_set_test
