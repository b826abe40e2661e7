#include "llm/record/asked_once.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace regraph::llm::asked_once_test {
namespace {

// Takes its time, and fails as often as it is told.
class SlowModel final : public ChatModel {
 public:
  ChatResult complete(const ChatRequest& request, const Cancellation&) override {
    ++asked;
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    if (failures-- > 0) return ChatError{ChatFailure::overloaded, "busy", 1, {}};
    ChatAnswer answer;
    answer.choices.push_back({request.model, "", "", FinishReason::stop});
    answer.usage = {10, 0, 5, 0, true};
    return answer;
  }
  std::atomic<int> asked = 0;
  std::atomic<int> failures = 0;
};

ChatRequest request(const std::string& model) {
  ChatRequest request;
  request.model = model;
  request.messages = {{Role::user, "hello"}};
  return request;
}

TEST(AskedOnce, EqualRequestsAreSentOnceAlsoAtTheSameTime) {
  SlowModel model;
  AskedOnce once(model);
  const Cancellation never;
  std::vector<std::thread> threads;
  threads.reserve(8);
  std::atomic<int> tokens = 0;
  for (int index = 0; index < 8; ++index) {
    threads.emplace_back([&, index] {
      const ChatResult result = once.complete(request(index % 2 == 0 ? "a" : "b"), never);
      ASSERT_TRUE(result);
      EXPECT_EQ(result->choices[0].text, index % 2 == 0 ? "a" : "b");
      tokens += static_cast<int>(result->usage.prompt_tokens);
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(model.asked, 2);
  EXPECT_EQ(once.saved(), 6);
  EXPECT_EQ(tokens, 20);  // paid for once
  EXPECT_EQ(once.complete(request("a"), never)->attempts, 0);
}

TEST(AskedOnce, FailuresAreNotKept) {
  SlowModel model;
  model.failures = 1;
  AskedOnce once(model);
  const Cancellation never;
  EXPECT_FALSE(once.complete(request("a"), never));
  EXPECT_TRUE(once.complete(request("a"), never));
  EXPECT_EQ(model.asked, 2);
  EXPECT_EQ(once.saved(), 0);
}

TEST(AskedOnce, WaitingEndsWhenItIsCancelled) {
  SlowModel model;
  AskedOnce once(model);
  Cancellation stop;
  stop.request();
  const Cancellation never;
  std::thread first([&] { EXPECT_TRUE(once.complete(request("a"), never)); });
  while (model.asked == 0)
    std::this_thread::yield();
  const ChatResult second = once.complete(request("a"), stop);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().failure, ChatFailure::cancelled);
  first.join();
}

}  // namespace
}  // namespace regraph::llm::asked_once_test
