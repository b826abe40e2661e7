#include "llm/record/spending_log.h"

#include "base/files.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace regraph::llm::spending_log_test {
namespace {

class SpendingLogTest : public testing::Test {
 protected:
  SpendingLogTest() : folder(*TemporaryDirectory::create("regraph-spending-")) {}
  [[nodiscard]] std::filesystem::path path() const { return folder.path() / "spent.jsonl"; }

  TemporaryDirectory folder;
};

TEST_F(SpendingLogTest, LaterSittingsGoOnWithWhatWasSpent) {
  for (int sitting = 0; sitting < 3; ++sitting) {
    auto log = SpendingLog::open(path());
    ASSERT_TRUE(log) << log.error().message;
    EXPECT_EQ((*log)->earlier().answers, 2 * sitting);
    EXPECT_EQ((*log)->earlier().usage.prompt_tokens, 300 * sitting);
    EXPECT_EQ((*log)->earlier().usage.reasoning_tokens, 8 * sitting);
    EXPECT_NEAR((*log)->earlier().dollars, 0.75 * sitting, 1e-12);
    EXPECT_TRUE((*log)->earlier().usage.reported);
    EXPECT_TRUE((*log)->add({100, 0, 20, 8, true}, 0.25));
    EXPECT_TRUE((*log)->add({200, 50, 30, 0, true}, 0.5));
  }
}

TEST_F(SpendingLogTest, ALastLineThatWasCutIsTakenAway) {
  ASSERT_TRUE((*SpendingLog::open(path()))->add({100, 0, 20, 0, true}, 0.25));
  const std::string whole = *read_file(path(), 1 << 20);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    ASSERT_TRUE(write_file(path(), whole + whole.substr(0, length)));
    auto log = SpendingLog::open(path());
    ASSERT_TRUE(log) << length;
    EXPECT_EQ((*log)->earlier().answers, 1);
    EXPECT_EQ(std::filesystem::file_size(path()), whole.size());
  }
}

TEST_F(SpendingLogTest, OtherFilesAreRefused) {
  for (const char* line : {"hello\n", "{}\n", "{\"usage\": {}, \"dollars\": -1}\n", "\n",
                           "{\"usage\": {}, \"dollars\": \"1\"}\n"}) {
    ASSERT_TRUE(write_file(path(), line));
    const auto log = SpendingLog::open(path());
    ASSERT_FALSE(log) << line;
    EXPECT_EQ(log.error().code, ErrorCode::parse);
    EXPECT_NE(log.error().message.find("spent.jsonl:1: "), std::string::npos);
    EXPECT_EQ(*read_file(path(), 1 << 20), line);
  }
  EXPECT_FALSE(SpendingLog::open(folder.path() / "no" / "such"));
}

}  // namespace
}  // namespace regraph::llm::spending_log_test
