#include "llm/record/answer_store.h"

#include "base/files.h"
#include "llm/record/scripted_model.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace regraph::llm::answer_store_test {
namespace {

TEST(AnswerStore, KeepsAnswersAcrossOpenings) {
  auto directory = TemporaryDirectory::create("regraph-store-");
  const auto path = directory->path() / "cache" / "answers.db";
  {
    auto store = AnswerStore::open(path);
    ASSERT_TRUE(store) << store.error().message;
    EXPECT_FALSE((*store)->find("k"));
    EXPECT_TRUE((*store)->put("k", answer_of("kept")).ok());
  }
  auto store = AnswerStore::open(path);
  ASSERT_TRUE(store) << store.error().message;
  const auto known = (*store)->find("k");
  ASSERT_TRUE(known);
  EXPECT_EQ(known->choices[0].text, "kept");
  EXPECT_EQ(known->usage.prompt_tokens, 40);
  EXPECT_EQ(known->attempts, 0);
  EXPECT_EQ(known->seconds, 0.0);
}

TEST(AnswerStore, IsSharedByThreadsAndConnections) {
  auto directory = TemporaryDirectory::create("regraph-store-");
  const auto path = directory->path() / "answers.db";
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      auto store = AnswerStore::open(path);
      if (!store) {
        ++failures;
        return;
      }
      for (int index = 0; index < 25; ++index) {
        const std::string key = std::to_string(thread) + "/" + std::to_string(index);
        if (!(*store)->put(key, answer_of(key)) || !(*store)->find(key)) ++failures;
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(failures, 0);
  auto store = AnswerStore::open(path);
  EXPECT_EQ((*store)->find("3/24")->choices[0].text, "3/24");
}

TEST(AnswerStore, RefusesWhatIsNoStore) {
  auto directory = TemporaryDirectory::create("regraph-store-");
  const auto path = directory->path() / "answers.db";
  ASSERT_TRUE(write_file(path, std::string(4096, 'x')));
  const auto store = AnswerStore::open(path);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, ErrorCode::parse);
  EXPECT_NE(store.error().message.find("answers.db"), std::string::npos);
}

}  // namespace
}  // namespace regraph::llm::answer_store_test
