#include "eval/gpu/prepared_store.h"

#include <gtest/gtest.h>

#include <string>

namespace regraph::gpu::prepared_store_test {
namespace {

Candidate candidate(const std::string& source) {
  Candidate result;
  result.source = source;
  return result;
}

JudgedHere judged(const std::string& message) {
  JudgedHere result;
  result.staged.evaluation.message = message;
  return result;
}

TEST(PreparedStore, GivesWhatItWasGivenOnce) {
  PreparedStore store;
  const EvaluationBudget budget;
  const Hash128 key = PreparedStore::key_of(candidate("a"), budget);
  EXPECT_FALSE(store.take(key));
  store.put(key, judged("first"));
  store.put(key, judged("second"));
  const auto taken = store.take(key);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->staged.evaluation.message, "second");
  EXPECT_FALSE(store.take(key));
}

TEST(PreparedStore, TellsSourcesAndSeedsApart) {
  EvaluationBudget budget;
  const Hash128 key = PreparedStore::key_of(candidate("a"), budget);
  EXPECT_NE(PreparedStore::key_of(candidate("b"), budget), key);
  budget.seed = 7;
  EXPECT_NE(PreparedStore::key_of(candidate("a"), budget), key);
}

TEST(PreparedStore, LetsTheOldestGo) {
  PreparedStore store;
  const EvaluationBudget budget;
  const auto key = [&](std::size_t i) {
    return PreparedStore::key_of(candidate(std::to_string(i)), budget);
  };
  for (std::size_t i = 0; i < PreparedStore::kKept + 3; ++i)
    store.put(key(i), judged(""));
  EXPECT_FALSE(store.take(key(2)));
  EXPECT_TRUE(store.take(key(3)));
  EXPECT_TRUE(store.take(key(PreparedStore::kKept + 2)));
}

}  // namespace
}  // namespace regraph::gpu::prepared_store_test
