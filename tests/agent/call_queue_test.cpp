#include "agent/call_queue.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

namespace regraph::agent::call_queue_test {
namespace {

// Does what the tool's name says.
class FakeWorker final : public CallWorker {
 public:
  ToolResult call(const ToolCall& call, const Cancellation& cancellation,
                  const ProgressReport& report) override {
    report({0.5, call.tool});
    if (call.tool == "throw") throw std::runtime_error("thrown");
    while (call.tool == "wait" && !cancellation.requested())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return {call.tool, nullptr, cancellation.requested()};
  }
};

class CallQueueTest : public ::testing::Test {
 protected:
  void start(std::int64_t number, const std::string& tool) {
    queue->start({number, tool, Json::object()});
  }
  ToolResult result_of(std::int64_t number) {
    std::unique_lock lock(mutex);
    EXPECT_TRUE(
        changed.wait_for(lock, std::chrono::seconds(60), [&] { return done.contains(number); }));
    return done[number];
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::int64_t, ToolResult> done;
  std::map<std::int64_t, std::string> told;
  std::unique_ptr<CallQueue> queue =
      std::make_unique<CallQueue>([] { return std::make_unique<FakeWorker>(); },
                                  [this](std::int64_t number, ToolResult result) {
                                    const std::lock_guard lock(mutex);
                                    EXPECT_FALSE(done.contains(number));
                                    done[number] = std::move(result);
                                    changed.notify_all();
                                  },
                                  [this](std::int64_t number, const CallProgress& progress) {
                                    const std::lock_guard lock(mutex);
                                    told[number] = progress.message;
                                  });
};

TEST_F(CallQueueTest, DoesCallsInOrder) {
  start(1, "a");
  start(2, "throw");
  start(3, "b");
  EXPECT_EQ(result_of(3).text, "b");
  EXPECT_EQ(result_of(1).text, "a");
  EXPECT_EQ(told[3], "b");
  EXPECT_TRUE(result_of(2).is_error);
  EXPECT_NE(result_of(2).text.find("thrown"), std::string::npos);
}

TEST_F(CallQueueTest, CancelsWhatRunsAndWhatWaits) {
  start(1, "wait");
  start(2, "wait");
  start(3, "after");
  queue->cancel(2);
  queue->cancel(17);
  queue->cancel(1);
  EXPECT_TRUE(result_of(1).is_error);
  EXPECT_EQ(result_of(2).text, "cancelled");
  EXPECT_EQ(result_of(3).text, "after");
}

TEST_F(CallQueueTest, EndsWithCallsUnderWay) {
  start(1, "wait");
  start(2, "wait");
  queue.reset();
  EXPECT_EQ(done.size(), 2);
}

TEST(WorkerMessages, ComeBackAsTheyWere) {
  const ToolCall call{7, "score", {{"source", "a\n\"b\""}}};
  const auto read = read_call_request(call_request_text(call));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->number, 7);
  EXPECT_EQ(read->tool, "score");
  EXPECT_EQ(read->arguments, call.arguments);
  const auto result = read_result(result_text({"text", {{"equal", true}}, true}));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->text, "text");
  EXPECT_EQ(result->structured["equal"], true);
  EXPECT_TRUE(result->is_error);
  EXPECT_FALSE(read_result("{}").ok());
  EXPECT_FALSE(read_call_request("[").ok());
}

TEST(WorkerProcess, SaysThatItWasLost) {
  const Cancellation never;
  SpawnRequest request;
  request.program = "/bin/false";
  WorkerProcess lost(request, 10.0);
  const ToolResult result = lost.call({1, "score", Json::object()}, never, {});
  EXPECT_TRUE(result.is_error);
  EXPECT_NE(result.text.find("lost"), std::string::npos) << result.text;
  request.program = "/no/such/program";
  WorkerProcess none(request, 10.0);
  EXPECT_TRUE(none.call({1, "score", Json::object()}, never, {}).is_error);
}

}  // namespace
}  // namespace regraph::agent::call_queue_test
