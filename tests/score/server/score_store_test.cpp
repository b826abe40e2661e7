#include "score/server/score_store.h"

#include "fake_workers.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace regraph::score::score_store_test {
namespace {

using learn::AnswerOutcome;
using test::item;

Score score_of_outcome(AnswerOutcome outcome, double seconds = 1e-3) {
  Score score;
  score.facts = {outcome, seconds, 2e-3, 2e-3, false};
  score.message = learn::name(outcome);
  return score;
}

class Store : public ::testing::Test {
 protected:
  Store() : folder_(*TemporaryDirectory::create("regraph-store-")) {}

  static std::unique_ptr<ScoreStore> open(ScoreStoreOptions options) {
    auto store = ScoreStore::open(std::move(options));
    EXPECT_TRUE(store.ok()) << store.error().message;
    return store.ok() ? *std::move(store) : nullptr;
  }
  [[nodiscard]] ScoreStoreOptions with_file(const std::string& context = "one") const {
    ScoreStoreOptions options;
    options.context = context;
    options.file = file();
    return options;
  }
  [[nodiscard]] std::filesystem::path file() const { return folder_.path() / "scores.jsonl"; }
  [[nodiscard]] std::string content() const { return *read_file(file(), 1 << 20); }

  // Has an item judged that is not known.
  static void judge(ScoreStore& store, const ScoreItem& item, const Score& score) {
    const ScoreStore::Claim claim = store.claim(item, [](const Score&, bool) {});
    ASSERT_TRUE(claim.runs);
    store.finish(claim.flight, score);
  }
  static std::optional<Score> known(ScoreStore& store, const ScoreItem& item) {
    const ScoreStore::Claim claim = store.claim(item, [](const Score&, bool) {});
    store.leave(claim);
    return claim.kept;
  }

 private:
  TemporaryDirectory folder_;
};

TEST_F(Store, KeepsWhatIsTheSame) {
  const auto store = open({});
  judge(*store, item("s", "text", "first"), score_of_outcome(AnswerOutcome::correct));
  const auto same = known(*store, item("s", "text", "second"));
  ASSERT_TRUE(same.has_value());
  EXPECT_EQ(same->id, "second");
  EXPECT_EQ(same->facts.outcome, AnswerOutcome::correct);
  EXPECT_FALSE(known(*store, item("t", "text")));
  EXPECT_FALSE(known(*store, item("s", "text ")));
  ScoreItem cut_off = item("s", "text");
  cut_off.cut_off = true;
  EXPECT_FALSE(known(*store, cut_off));
  EXPECT_EQ(store->size(), 1U);
  EXPECT_EQ(store->recalled(), 1U);
}

TEST_F(Store, KeepsNoMissingVerdicts) {
  const auto store = open(with_file());
  judge(*store, item("s", "text"), score_of_outcome(AnswerOutcome::no_verdict));
  EXPECT_FALSE(known(*store, item("s", "text")));
  EXPECT_EQ(store->size(), 0U);
  EXPECT_EQ(content(), "");
}

TEST_F(Store, IsBounded) {
  ScoreStoreOptions options;
  options.entries = 2;
  const auto store = open(options);
  for (const char* text : {"1", "2", "3"})
    judge(*store, item("s", text), score_of_outcome(AnswerOutcome::wrong));
  EXPECT_EQ(store->size(), 2U);
  EXPECT_FALSE(known(*store, item("s", "1")));
  EXPECT_TRUE(known(*store, item("s", "3")));
}

TEST_F(Store, HasEqualItemsJudgedOnce) {
  const auto store = open({});
  std::vector<std::pair<std::string, bool>> told;
  const auto note = [&](const Score& score, bool shared) { told.emplace_back(score.id, shared); };
  const auto first = store->claim(item("s", "text", "1"), note);
  const auto second = store->claim(item("s", "text", "2"), note);
  const auto third = store->claim(item("s", "text", "3"), note);
  EXPECT_TRUE(first.runs);
  EXPECT_FALSE(second.runs);
  EXPECT_FALSE(second.kept);
  store->leave(second);
  EXPECT_FALSE(first.cancellation->requested());
  store->finish(first.flight, score_of_outcome(AnswerOutcome::correct));
  EXPECT_EQ(told, (std::vector<std::pair<std::string, bool>>{{"1", false}, {"3", true}}));
  EXPECT_EQ(store->recalled(), 2U);
}

TEST_F(Store, CancelsWhatNobodyWaitsFor) {
  const auto store = open({});
  const auto nothing = [](const Score&, bool) { ADD_FAILURE() << "told one who left"; };
  const auto first = store->claim(item("s", "text", "1"), nothing);
  const auto second = store->claim(item("s", "text", "2"), nothing);
  store->leave(first);
  EXPECT_FALSE(first.cancellation->requested());
  store->leave(second);
  EXPECT_TRUE(first.cancellation->requested());
  // Another one begins anew and does not get what the dropped one comes to.
  int told = 0;
  const auto third = store->claim(item("s", "text", "3"), [&](const Score& score, bool) {
    ++told;
    EXPECT_EQ(score.facts.outcome, AnswerOutcome::correct);
  });
  EXPECT_TRUE(third.runs);
  store->finish(first.flight, score_of_outcome(AnswerOutcome::no_verdict));
  EXPECT_EQ(told, 0);
  store->finish(third.flight, score_of_outcome(AnswerOutcome::correct));
  EXPECT_EQ(told, 1);
}

TEST_F(Store, IsReadBack) {
  {
    const auto store = open(with_file());
    judge(*store, item("s", "two\nlines \xc3\xa4"), score_of_outcome(AnswerOutcome::correct));
    judge(*store, item("s", "other"), score_of_outcome(AnswerOutcome::wrong));
    EXPECT_EQ(ScoreStore::open(with_file()).error().code, ErrorCode::busy);
  }
  const std::string text = content();
  EXPECT_EQ(std::ranges::count(text, '\n'), 2);
  EXPECT_NE(text.find(R"("rewards":{"regraph":0.6)"), std::string::npos) << text;
  {
    const auto store = open(with_file("another"));
    EXPECT_EQ(store->size(), 0U);  // of other devices and programs
    judge(*store, item("s", "other"), score_of_outcome(AnswerOutcome::not_compiled));
  }
  const auto store = open(with_file());
  EXPECT_EQ(store->size(), 2U);
  EXPECT_EQ(known(*store, item("s", "other"))->facts.outcome, AnswerOutcome::wrong);
  const auto same = known(*store, item("s", "two\nlines \xc3\xa4"));
  ASSERT_TRUE(same.has_value());
  EXPECT_EQ(same->facts.seconds, 1e-3);
}

TEST_F(Store, PassesOverWhatIsTorn) {
  {
    const auto store = open(with_file());
    judge(*store, item("s", "1"), score_of_outcome(AnswerOutcome::wrong));
    judge(*store, item("s", "2"), score_of_outcome(AnswerOutcome::wrong));
  }
  const std::string whole = content();
  ASSERT_TRUE(write_file(file(), whole.substr(0, whole.size() - 20)).ok());
  {
    const auto store = open(with_file());
    EXPECT_TRUE(known(*store, item("s", "1")));
    EXPECT_FALSE(known(*store, item("s", "2")));
    judge(*store, item("s", "3"), score_of_outcome(AnswerOutcome::wrong));
  }
  ASSERT_TRUE(write_file(file(), content() + "[[[[[[[\n\xff\xfe\n{\"context\": 1}\n\n").ok());
  std::vector<std::string> reports;
  ScoreStoreOptions options = with_file();
  options.report = [&](const std::string& text) { reports.push_back(text); };
  const auto store = open(options);
  EXPECT_EQ(store->size(), 2U);
  EXPECT_TRUE(known(*store, item("s", "3")));
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_NE(reports[0].find("4 lines cannot be read"), std::string::npos) << reports[0];
}

TEST_F(Store, DoesNotUseWhatWasChanged) {
  {
    const auto store = open(with_file());
    judge(*store, item("s", "1"), score_of_outcome(AnswerOutcome::wrong));
    judge(*store, item("s", "2"), score_of_outcome(AnswerOutcome::wrong));
  }
  std::string text = content();
  const std::size_t at = text.find("\"wrong\"");
  ASSERT_NE(at, std::string::npos) << text;
  text.replace(at, 7, "\"correct\"");
  ASSERT_TRUE(write_file(file(), text).ok());
  std::vector<std::string> reports;
  ScoreStoreOptions options = with_file();
  options.report = [&](const std::string& one) { reports.push_back(one); };
  const auto store = open(options);
  EXPECT_FALSE(known(*store, item("s", "1")));
  EXPECT_TRUE(known(*store, item("s", "2")));
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_NE(reports[0].find("1 line cannot be read or was changed"), std::string::npos)
      << reports[0];
}

TEST_F(Store, GoesOnWithoutRoom) {
  std::vector<std::string> reports;
  ScoreStoreOptions options;
  options.file = "/dev/full";
  options.report = [&](const std::string& text) { reports.push_back(text); };
  const auto store = open(options);
  judge(*store, item("s", "1"), score_of_outcome(AnswerOutcome::wrong));
  judge(*store, item("s", "2"), score_of_outcome(AnswerOutcome::wrong));
  EXPECT_TRUE(known(*store, item("s", "1")));
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_NE(reports[0].find("No space left on device"), std::string::npos) << reports[0];
}

TEST_F(Store, SaysWhatIsWrongWithItsFile) {
  ScoreStoreOptions options;
  options.file = "/nowhere/at/all.jsonl";
  EXPECT_EQ(ScoreStore::open(options).error().code, ErrorCode::not_found);
  options.file = "/";
  EXPECT_EQ(ScoreStore::open(options).error().code, ErrorCode::io);
}

}  // namespace
}  // namespace regraph::score::score_store_test
