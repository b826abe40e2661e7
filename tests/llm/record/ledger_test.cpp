#include "llm/record/ledger.h"

#include "base/files.h"
#include "llm/record/scripted_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <thread>
#include <vector>

namespace regraph::llm::ledger_test {
namespace {

const Cancellation kNone;

TEST(BudgetedModel, BooksWhatWasUsed) {
  int call = 0;
  ScriptedModel model([&](const ChatRequest&) -> ChatResult {
    TokenUsage paid;
    paid.prompt_tokens = 5;
    paid.reported = true;
    if (++call == 2) return ChatError{ChatFailure::malformed, "cut", 2, paid};
    return answer_of("x");
  });
  BudgetedModel budgeted(model, nullptr, {}, Price{1.0, 1.0, 10.0});
  for (int index = 0; index < 3; ++index)
    (void)budgeted.complete(request_of(std::to_string(index)), kNone);
  const ChatStatistics statistics = budgeted.statistics();
  EXPECT_EQ(statistics.asked, 3);
  EXPECT_EQ(statistics.answered, 2);
  EXPECT_EQ(statistics.attempts, 4);
  EXPECT_EQ(statistics.usage.prompt_tokens, 85);
  EXPECT_EQ(statistics.usage.completion_tokens, 20);
  EXPECT_EQ(statistics.failures[static_cast<std::size_t>(ChatFailure::malformed)], 1);
  EXPECT_EQ(statistics.first_failure, "cut");
  EXPECT_DOUBLE_EQ(statistics.dollars, (85 + 200) / 1e6);
  EXPECT_DOUBLE_EQ(statistics.seconds, 1.0);
  EXPECT_FALSE(statistics.spent);
}

TEST(BudgetedModel, NeverAsksForMoreThanIsLeft) {
  const std::int64_t most = [] {
    const TokenUsage usage = estimated_usage(request_of("0"));
    return usage.prompt_tokens + usage.completion_tokens;
  }();
  ScriptedModel model([&](const ChatRequest&) { return answer_of("x", 40, 60); });
  BudgetedModel budgeted(model, nullptr, {.tokens = 100 + most}, std::nullopt);
  EXPECT_TRUE(budgeted.complete(request_of("0"), kNone).ok());
  EXPECT_TRUE(budgeted.complete(request_of("1"), kNone).ok());
  const ChatResult refused = budgeted.complete(request_of("2"), kNone);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().failure, ChatFailure::over_budget);
  EXPECT_EQ(model.calls, 2);
  EXPECT_TRUE(budgeted.statistics().spent);
  EXPECT_LE(budgeted.statistics().tokens(), 100 + most);
}

// Requests under way count with what they may take, so many at once cannot overrun the budget.
TEST(BudgetedModel, PromisesCountWhileRequestsAreUnderWay) {
  ScriptedModel model([&](const ChatRequest&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return answer_of("x", 30, 100);
  });
  BudgetedModel budgeted(model, nullptr, {.dollars = 0.0005}, Price{0.0, 0.0, 1.0});
  std::vector<std::thread> threads;
  for (int index = 0; index < 16; ++index) {
    threads.emplace_back(
        [&, index] { (void)budgeted.complete(request_of(std::to_string(index)), kNone); });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(model.calls, 5);  // 100 tokens each, 500 are allowed
  EXPECT_LE(budgeted.statistics().dollars, 0.0005 + 1e-12);
}

TEST(BudgetedModel, TimeIsABudget) {
  ScriptedModel model([&](const ChatRequest&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    return answer_of("x");
  });
  BudgetedModel budgeted(model, nullptr, {.seconds = 0.02}, std::nullopt);
  EXPECT_TRUE(budgeted.complete(request_of("0"), kNone).ok());
  EXPECT_FALSE(budgeted.complete(request_of("1"), kNone).ok());
}

TEST(BudgetedModel, WhatIsInTheStoreIsFree) {
  auto directory = TemporaryDirectory::create("regraph-ledger-");
  auto store = AnswerStore::open(directory->path() / "answers.db");
  ASSERT_TRUE(store);
  ScriptedModel model([&](const ChatRequest&) { return answer_of("x"); });
  {
    BudgetedModel first(model, store->get(), {}, std::nullopt);
    EXPECT_TRUE(first.complete(request_of("0"), kNone).ok());
    EXPECT_TRUE(first.complete(request_of("0"), kNone).ok());
    EXPECT_EQ(first.statistics().from_store, 1);
    EXPECT_EQ(first.statistics().tokens(), 50);
  }
  BudgetedModel second(model, store->get(), {.tokens = 1}, std::nullopt);
  EXPECT_TRUE(second.complete(request_of("0"), kNone).ok());
  EXPECT_FALSE(second.complete(request_of("1"), kNone).ok());
  EXPECT_EQ(model.calls, 1);
  EXPECT_EQ(second.statistics().tokens(), 0);
}

TEST(BudgetedModel, WhatEarlierSittingsSpentIsSpent) {
  const auto folder = TemporaryDirectory::create("regraph-ledger-");
  ASSERT_TRUE(folder);
  const std::filesystem::path path = folder->path() / "spent.jsonl";
  const Cancellation never;
  ScriptedModel model([](const ChatRequest&) { return answer_of("a", 400, 100); });
  // A request may take 100 tokens of answer and a few of a prompt, and takes 500.
  for (int sitting = 0; sitting < 4; ++sitting) {
    auto log = SpendingLog::open(path);
    ASSERT_TRUE(log);
    BudgetedModel budgeted(model, nullptr, {.tokens = 1050}, std::nullopt, log->get());
    EXPECT_EQ(budgeted.statistics().tokens(), 500 * std::min(sitting, 3));
    const ChatResult result = budgeted.complete(request_of("next"), never);
    EXPECT_EQ(result.ok(), sitting < 2) << sitting;
    if (sitting >= 2) {
      EXPECT_EQ(result.error().failure, ChatFailure::over_budget);
      break;
    }
    EXPECT_TRUE(budgeted.status());
  }
  EXPECT_EQ(model.calls, 2);
}

}  // namespace
}  // namespace regraph::llm::ledger_test
