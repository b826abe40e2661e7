#include "score/score_item.h"

#include "base/json_text.h"
#include "score/item_json.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace regraph::score::score_item_test {
namespace {

Score some_score() {
  Score score;
  score.id = "a";
  score.facts = {learn::AnswerOutcome::correct, 1.5e-5, 3.1e-5, 1.0 / 3.0, true};
  score.verdict = Verdict::correct;
  score.message = "two\nlines and \"quotes\"";
  score.time = {1.5e-5, 1.4e-5, 1.7e-5, 31, TimeMethod::measured};
  score.parent_time = {3.1e-5, 3.0e-5, 3.3e-5, 1, TimeMethod::predicted};
  score.same_as_rewriter = false;
  score.bottleneck = "L1 and shared-memory pipe";
  score.scoring_seconds = 0.25;
  return score;
}

TEST(ScoreItem, IsReadAsWritten) {
  const std::vector<ScoreItem> items = {
      {"1", "0123", "__global__ void f() {}\n", false},
      {"", "", "", true},
      {"\"quoted\"", "s", std::string("a\0b\x01\x7f \\ \xc3\xa4 \xf0\x9f\x98\x80", 15), true}};
  for (const ScoreItem& item : items) {
    const std::string text = item_text(item);
    EXPECT_EQ(text.find('\n'), std::string::npos);
    const Result<ScoreItem> read = read_item(text);
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(*read, item);
  }
}

TEST(ScoreItem, TakesAnyBytes) {
  std::string bytes;
  for (int i = 0; i < 512; ++i)
    bytes += static_cast<char>(i * 7);
  const std::string text = item_text({bytes, bytes, bytes, false});
  const Result<ScoreItem> read = read_item(text);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_NE(read->completion.find("\xef\xbf\xbd"), std::string::npos);
  // What was replaced once is kept from then on.
  EXPECT_EQ(item_text(*read), text);

  const std::string raw = R"({"id": "", "state": "", "completion": ")" + bytes + "\"}";
  ASSERT_FALSE(read_item(raw).ok());
  EXPECT_EQ(read_item(raw).error().code, ErrorCode::parse);
  EXPECT_NE(read_item(raw).error().message.find("not UTF-8"), std::string::npos);
}

TEST(ScoreItem, SaysWhatIsWrong) {
  const auto complaint = [](const std::string& text) {
    const Result<ScoreItem> read = read_item(text);
    if (read.ok()) return std::string("none");
    EXPECT_EQ(read.error().code, ErrorCode::parse);
    return read.error().message;
  };
  EXPECT_EQ(complaint(R"({"id": "1", "state": "s", "completion": "c"})"), "none");
  EXPECT_EQ(complaint(R"({"id": "1", "state": "s"})"), "item: no 'completion'");
  EXPECT_EQ(complaint(R"({"id": 1, "state": "s", "completion": "c"})"), "item: 'id' is not a text");
  EXPECT_EQ(complaint(R"({"id": "1", "state": "s", "completion": "c", "reward": 1})"),
            "item: unknown key 'reward'");
  EXPECT_EQ(complaint(R"({"id": "1", "state": "s", "completion": "c", "cut_off": 1})"),
            "item: 'cut_off' is not true or false");
  EXPECT_EQ(complaint("[]"), "item: not an object");
  EXPECT_EQ(complaint("7"), "item: not an object");
  EXPECT_TRUE(complaint("").starts_with("item: not JSON"));
  EXPECT_TRUE(complaint("{").starts_with("item: not JSON"));
  EXPECT_TRUE(complaint(R"({"id": 1e999})").starts_with("item: not JSON"));
  EXPECT_TRUE(complaint(R"({"id": [[]]})").starts_with("item: JSON nests deeper"));
  EXPECT_TRUE(complaint(std::string(1 << 20, '[')).starts_with("item: JSON nests deeper"));
}

TEST(ScoreItem, IsBounded) {
  const ScoreItem large = {"1", "s", std::string(kLargestCompletion, '\x01'), false};
  const Result<ScoreItem> read = read_item(item_text(large));  // each byte escaped as six
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, large);
  EXPECT_FALSE(read_item(item_text({"1", "s", large.completion + "x", false})).ok());
  EXPECT_FALSE(read_item(item_text({std::string(kLargestName + 1, 'i'), "s", "", false})).ok());
  EXPECT_FALSE(read_item(std::string(kLargestCompletion * 7, ' ')).ok());
}

TEST(Score, IsReadAsWritten) {
  std::vector<Score> scores = {some_score(), Score()};
  scores.push_back(some_score());
  scores.back().same_as_rewriter.reset();
  for (int i = 0; i < learn::kAnswerOutcomeCount; ++i) {
    scores.push_back(some_score());
    scores.back().facts.outcome = static_cast<learn::AnswerOutcome>(i);
  }
  for (int i = 0; i < kVerdictCount; ++i) {
    scores.push_back(some_score());
    scores.back().verdict = static_cast<Verdict>(i);
  }
  for (const Score& score : scores) {
    const std::string text = score_text(score);
    EXPECT_EQ(text.find('\n'), std::string::npos);
    const Result<Score> read = read_score(text);
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(score_text(*read), text);
    EXPECT_EQ(read->id, score.id);
    EXPECT_EQ(read->facts.outcome, score.facts.outcome);
    EXPECT_EQ(read->facts.seconds, score.facts.seconds);
    EXPECT_EQ(read->facts.parent_seconds, score.facts.parent_seconds);
    EXPECT_EQ(read->facts.original_seconds, score.facts.original_seconds);
    EXPECT_EQ(read->facts.step_is_no_op, score.facts.step_is_no_op);
    EXPECT_EQ(read->verdict, score.verdict);
    EXPECT_EQ(read->message, score.message);
    EXPECT_EQ(read->time.low_seconds, score.time.low_seconds);
    EXPECT_EQ(read->time.samples, score.time.samples);
    EXPECT_EQ(read->time.method, score.time.method);
    EXPECT_EQ(read->parent_time.high_seconds, score.parent_time.high_seconds);
    EXPECT_EQ(read->parent_time.method, score.parent_time.method);
    EXPECT_EQ(read->same_as_rewriter, score.same_as_rewriter);
    EXPECT_EQ(read->bottleneck, score.bottleneck);
    EXPECT_EQ(read->scoring_seconds, score.scoring_seconds);
  }
}

TEST(Score, IsReadStrictly) {
  const auto changed = [](const char* key, const nlohmann::ordered_json& value) {
    nlohmann::ordered_json json = json_of(some_score());
    json[key] = value;
    return read_score(json_line(json)).ok();
  };
  EXPECT_TRUE(changed("samples", 3));
  EXPECT_FALSE(changed("samples", -3));
  EXPECT_FALSE(changed("outcome", "fine"));
  EXPECT_FALSE(changed("verdict", ""));
  EXPECT_FALSE(changed("method", nullptr));
  EXPECT_FALSE(changed("reward", 1.0));
  nlohmann::ordered_json json = json_of(some_score());
  json.erase("bottleneck");
  EXPECT_FALSE(read_score(json_line(json)).ok());
  EXPECT_FALSE(read_score("[]").ok());
  EXPECT_FALSE(read_score("").ok());
  // A time that is no number must not become one.
  Score score = some_score();
  score.facts.seconds = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(read_score(score_text(score)).ok());
  // A compiler's words may be any bytes.
  score = some_score();
  score.message = "\xff\xfe";
  EXPECT_TRUE(read_score(score_text(score)).ok());
}

}  // namespace
}  // namespace regraph::score::score_item_test
