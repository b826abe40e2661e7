#include "fleet/fleet_chat.h"

#include "fleet/chat_job.h"
#include "fleet/queue/memory_broker.h"
#include "llm/record/scripted_model.h"

#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <map>
#include <thread>
#include <vector>

namespace regraph::fleet::fleet_chat_test {
namespace {

class ChatQueue final : public JobQueue {
 public:
  Result<std::string> ask(const Job& job, const Cancellation&) override {
    jobs.push_back(job);
    return answer(job);
  }
  void take_back(const Job& job) override { taken_back.push_back(job); }
  Status keep(const Hash128&, std::string_view, const Cancellation&) override { return {}; }
  Result<LaneState> state(const std::string&) override { return LaneState{}; }

  std::function<Result<std::string>(const Job&)> answer;
  std::vector<Job> jobs;
  std::vector<Job> taken_back;
};

struct FleetChatTest : testing::Test {
  void fail_with(ErrorCode code) {
    queue.answer = [code](const Job&) -> Result<std::string> { return fail(code, "why"); };
  }
  void reply(const llm::ChatResult& result) {
    queue.answer = [result](const Job&) { return reply_text({result, "w1"}); };
  }
  ChatQueue queue;
  FleetChat chat{queue, "run"};
  const llm::ChatRequest request = llm::request_of("faster");
  const Cancellation never{};
};

TEST_F(FleetChatTest, TakesBackWhatIsCancelled) {
  fail_with(ErrorCode::cancelled);
  EXPECT_FALSE(chat.complete(request, never).ok());
  ASSERT_EQ(queue.taken_back.size(), 1U);
  EXPECT_EQ(queue.taken_back[0].id, queue.jobs[0].id);
}

TEST_F(FleetChatTest, AsksWorkers) {
  reply(llm::answer_of("code", 70, 30));
  const auto answer = chat.complete(request, never);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->choices[0].text, "code");
  EXPECT_EQ(answer->usage.prompt_tokens, 70);
  EXPECT_EQ(answer->usage.completion_tokens, 30);
  EXPECT_TRUE(answer->usage.reported);
  EXPECT_EQ(answer->attempts, 1);
  const auto job = read_chat_job(queue.jobs[0].payload);
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(job->request, request);
  EXPECT_EQ(job->occasion, "run");
}

TEST_F(FleetChatTest, TakesSamplesAndFindsThemAgain) {
  // An answer for each job, as a queue has it.
  std::map<std::string, std::string> results;
  queue.answer = [&](const Job& job) {
    const auto text = "answer " + std::to_string(results.size());
    return results.try_emplace(job.id.hex(), reply_text({llm::answer_of(text), "w"})).first->second;
  };
  EXPECT_EQ(chat.complete(request, never)->choices[0].text, "answer 0");
  EXPECT_EQ(chat.complete(request, never)->choices[0].text, "answer 1");
  EXPECT_EQ(chat.complete(llm::request_of("another"), never)->choices[0].text, "answer 2");
  FleetChat resumed(queue, "run");
  EXPECT_EQ(resumed.complete(request, never)->choices[0].text, "answer 0");
  EXPECT_EQ(resumed.complete(request, never)->choices[0].text, "answer 1");
  EXPECT_EQ(resumed.complete(request, never)->choices[0].text, "answer 3");
  FleetChat other(queue, "run 2");
  EXPECT_EQ(other.complete(request, never)->choices[0].text, "answer 4");
}

TEST_F(FleetChatTest, FailsAsTheWorkerDid) {
  for (const auto failure :
       {llm::ChatFailure::unreachable, llm::ChatFailure::unauthorised,
        llm::ChatFailure::unknown_model, llm::ChatFailure::rejected, llm::ChatFailure::overloaded,
        llm::ChatFailure::timed_out, llm::ChatFailure::malformed}) {
    llm::TokenUsage usage;
    usage.prompt_tokens = 9;
    reply(llm::ChatError{failure, "HTTP 429", 6, usage});
    const auto answer = chat.complete(request, never);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().failure, failure);
    EXPECT_EQ(answer.error().message, "worker w1: HTTP 429");
    EXPECT_EQ(answer.error().attempts, 6);
    EXPECT_EQ(answer.error().usage, usage);
  }
  // Each is asked anew.
  EXPECT_NE(queue.jobs[0].id, queue.jobs[1].id);
}

TEST_F(FleetChatTest, SaysWhatTheQueueSays) {
  fail_with(ErrorCode::resource);
  EXPECT_EQ(chat.complete(request, never).error().failure, llm::ChatFailure::rejected);
  fail_with(ErrorCode::io);
  EXPECT_EQ(chat.complete(request, never).error().failure, llm::ChatFailure::unreachable);
  fail_with(ErrorCode::cancelled);
  EXPECT_EQ(chat.complete(request, never).error().failure, llm::ChatFailure::cancelled);
  // What was not waited for is the same job the next time.
  reply(llm::answer_of("code"));
  EXPECT_TRUE(chat.complete(request, never));
  ASSERT_EQ(queue.jobs.size(), 4U);
  EXPECT_EQ(queue.jobs[3].id, queue.jobs[2].id);
  EXPECT_NE(queue.jobs[2].id, queue.jobs[1].id);
}

TEST_F(FleetChatTest, BelievesNoNonsense) {
  queue.answer = [](const Job&) { return std::string("garbage"); };
  EXPECT_EQ(chat.complete(request, never).error().failure, llm::ChatFailure::malformed);
  reply(llm::ChatError{llm::ChatFailure::cancelled, "stop", 0, {}});
  EXPECT_EQ(chat.complete(request, never).error().failure, llm::ChatFailure::malformed);
  llm::ChatAnswer many = llm::answer_of("code");
  many.choices.push_back(many.choices[0]);
  reply(many);
  const auto answer = chat.complete(request, never);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().failure, llm::ChatFailure::malformed);
  EXPECT_EQ(answer.error().usage, many.usage);
}

TEST_F(FleetChatTest, StopsWhenItIsToldTo) {
  MemoryBroker broker;
  FleetChat waiting(broker, "run");
  Cancellation stop;
  auto answer = std::async(std::launch::async, [&] { return waiting.complete(request, stop); });
  while (broker.state(job_of({"run", 0, request}).lane)->waiting == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const auto start = std::chrono::steady_clock::now();
  stop.request();
  const auto said = answer.get();
  ASSERT_FALSE(said);
  EXPECT_EQ(said.error().failure, llm::ChatFailure::cancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

}  // namespace
}  // namespace regraph::fleet::fleet_chat_test
