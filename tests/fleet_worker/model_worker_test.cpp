#include "fleet_worker/model_worker.h"

#include "fleet/chat_job.h"
#include "fleet/fleet_chat.h"
#include "fleet/lanes.h"
#include "fleet/queue/memory_broker.h"
#include "fleet_worker/failure_notice.h"
#include "fleet_worker/fleet_status.h"
#include "llm/record/asked_once.h"
#include "llm/record/ledger.h"
#include "llm/record/scripted_model.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace regraph::fleet::model_worker_test {
namespace {

using llm::ChatFailure;

// Answers as it is told, and waits as a server's client does.
class Server final : public llm::ChatModel {
 public:
  llm::ChatResult complete(const llm::ChatRequest& request,
                           const Cancellation& cancellation) override {
    const int call = calls.fetch_add(1);
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (std::chrono::steady_clock::now() < end) {
      if (cancellation.requested()) return llm::ChatError{ChatFailure::cancelled, "stop", 0, {}};
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return answer(request, call);
  }
  void fail_always(ChatFailure failure) {
    answer = [failure](const llm::ChatRequest&, int) {
      return llm::ChatError{failure, "HTTP trouble", 6, {}};
    };
  }

  std::function<llm::ChatResult(const llm::ChatRequest&, int)> answer =
      [](const llm::ChatRequest& request, int) {
        return llm::answer_of("to " + request.messages.back().text);
      };
  double seconds = 0.0;
  std::atomic<int> calls{0};
};

class RunningModelWorker {
 public:
  RunningModelWorker(Broker& broker, llm::ChatModel& model, ModelWorkerOptions options)
      : worker_(broker, model, std::move(options)), thread_([this] { worker_.run(leave_); }) {}
  ~RunningModelWorker() { leave(); }
  void leave() {
    leave_.request();
    if (thread_.joinable()) thread_.join();
  }

 private:
  Cancellation leave_;
  ModelWorker worker_;
  std::thread thread_;
};

struct ModelWorkerTest : testing::Test {
  ModelWorkerOptions options(const std::string& name, int places = 1) {
    ModelWorkerOptions result;
    result.self.name = name;
    result.self.lanes = {model_lane("tiny")};
    result.self.places = places;
    result.model = "tiny";
    result.first_pause_seconds = 0.01;
    result.longest_pause_seconds = 0.05;
    result.report = [this](const std::string& text) {
      const std::lock_guard lock(mutex);
      said.push_back(text);
    };
    return result;
  }
  llm::ChatResult ask(const std::string& text) {
    return chat.complete(llm::request_of(text), never);
  }
  void wait_until_under_way() {
    while (broker.state(model_lane("tiny"))->under_way == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }

  MemoryBroker broker{2.0};
  FleetChat chat{broker, "run"};
  Server server;
  const Cancellation never{};
  std::mutex mutex;
  std::vector<std::string> said;
};

TEST_F(ModelWorkerTest, AnswersQuestions) {
  const RunningModelWorker worker(broker, server, options("one", 2));
  const auto answer = ask("a");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->choices[0].text, "to a");
  EXPECT_EQ(answer->usage.prompt_tokens, 40);
  EXPECT_TRUE(said.empty());
}

// What stands above a server stands above a fleet as well.
TEST_F(ModelWorkerTest, IsAskedAsAServerIs) {
  const RunningModelWorker worker(broker, server, options("one"));
  llm::ChatBudget budget;
  budget.tokens = 400;
  llm::BudgetedModel budgeted(chat, nullptr, budget, llm::Price{});
  llm::AskedOnce once(budgeted);
  EXPECT_TRUE(once.complete(llm::request_of("a"), never));
  EXPECT_TRUE(once.complete(llm::request_of("a"), never));
  EXPECT_EQ(once.saved(), 1);
  EXPECT_EQ(budgeted.statistics().tokens(), 50);
  EXPECT_EQ(budgeted.statistics().attempts, 1);
  const auto beyond = once.complete(llm::request_of("b", 1000), never);
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().failure, ChatFailure::over_budget);
  EXPECT_EQ(server.calls, 1);
}

TEST_F(ModelWorkerTest, AsksSeveralAtOnce) {
  server.seconds = 0.5;
  const RunningModelWorker worker(broker, server, options("one", 4));
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::future<llm::ChatResult>> answers;
  for (int number = 0; number < 4; ++number)
    answers.push_back(
        std::async(std::launch::async, [&, number] { return ask(std::to_string(number)); }));
  for (auto& answer : answers)
    EXPECT_TRUE(answer.get());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(1900));
}

TEST_F(ModelWorkerTest, FindsAnswersOfARunThatWasInterrupted) {
  auto worker = std::make_unique<RunningModelWorker>(broker, server, options("one"));
  EXPECT_TRUE(ask("a"));
  worker.reset();
  FleetChat resumed(broker, "run");
  EXPECT_TRUE(resumed.complete(llm::request_of("a"), never));
  EXPECT_EQ(server.calls, 1);
}

TEST_F(ModelWorkerTest, TriesThreeTimesWhereTheServerFails) {
  server.fail_always(ChatFailure::overloaded);
  const RunningModelWorker worker(broker, server, options("one"));
  const auto answer = ask("a");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().failure, ChatFailure::overloaded);
  EXPECT_NE(answer.error().message.find("worker one"), std::string::npos);
  EXPECT_EQ(server.calls, 3);
  const Job job = job_of({"run", 0, llm::request_of("a")});
  const auto notice = read_failure(*broker.read(Board::failures, job.id.hex()));
  ASSERT_TRUE(notice.ok());
  EXPECT_TRUE(notice->given_up);
  EXPECT_EQ(notice->tries.size(), 3U);
  // Asked again it is a question of its own.
  server.answer = [](const llm::ChatRequest&, int) { return llm::answer_of("now"); };
  EXPECT_TRUE(ask("a"));
}

TEST_F(ModelWorkerTest, HasAnAnswerWhereItFailsOnce) {
  server.answer = [](const llm::ChatRequest&, int call) -> llm::ChatResult {
    if (call == 0) return llm::ChatError{ChatFailure::unreachable, "refused", 1, {}};
    return llm::answer_of("code");
  };
  const RunningModelWorker worker(broker, server, options("one"));
  EXPECT_TRUE(ask("a"));
  EXPECT_EQ(server.calls, 2);
}

TEST_F(ModelWorkerTest, AnswersAtOnceWhereTheQuestionIsAtFault) {
  for (const auto failure : {ChatFailure::rejected, ChatFailure::malformed}) {
    server.calls = 0;
    server.answer = [failure](const llm::ChatRequest&, int) {
      llm::TokenUsage usage;
      usage.completion_tokens = 11;
      return llm::ChatError{failure, "HTTP trouble", 3, usage};
    };
    const RunningModelWorker worker(broker, server, options("one"));
    const auto answer = ask("a");
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().failure, failure);
    EXPECT_EQ(answer.error().usage.completion_tokens, 11);
    EXPECT_EQ(server.calls, 1);
  }
}

TEST_F(ModelWorkerTest, LeavesQuestionsToOthersWhereItsKeyIsRefused) {
  Server refusing;
  refusing.fail_always(ChatFailure::unauthorised);
  ModelWorkerOptions without_key = options("no-key", 4);
  without_key.longest_pause_seconds = 60.0;
  const RunningModelWorker bad(broker, refusing, without_key);
  while (broker.notices(Board::workers, 10)->empty())
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  auto first = std::async(std::launch::async, [&] { return ask("a"); });
  while (refusing.calls == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  EXPECT_EQ(refusing.calls, 1);
  const RunningModelWorker good(broker, server, options("good"));
  EXPECT_TRUE(first.get());
  for (int number = 0; number < 5; ++number)
    EXPECT_TRUE(ask(std::to_string(number)));
  EXPECT_EQ(refusing.calls, 1);
}

TEST_F(ModelWorkerTest, AsksForItsOwnModelOnly) {
  const RunningModelWorker worker(broker, server, options("one"));
  llm::ChatRequest dearer = llm::request_of("a");
  dearer.model = "huge";
  Job job = job_of({"run", 0, dearer});
  job.lane = model_lane("tiny");
  const auto reply = read_reply(*broker.ask(job, never));
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->result.error().failure, ChatFailure::rejected);
  job.id = hash_text("garbage");
  job.payload = "garbage";
  const auto unreadable = read_reply(*broker.ask(job, never));
  ASSERT_TRUE(unreadable.ok());
  EXPECT_EQ(unreadable->result.error().failure, ChatFailure::rejected);
  EXPECT_EQ(server.calls, 0);
}

TEST_F(ModelWorkerTest, LeavesNothingUnderWay) {
  server.seconds = 60.0;
  ModelWorkerOptions hasty = options("hasty");
  hasty.leave_seconds = 0.1;
  auto worker = std::make_unique<RunningModelWorker>(broker, server, hasty);
  auto asked = std::async(std::launch::async, [&] { return ask("a"); });
  wait_until_under_way();
  worker->leave();
  EXPECT_EQ(broker.state(model_lane("tiny"))->under_way, 0U);
  EXPECT_TRUE(broker.notices(Board::workers, 10)->empty());
  EXPECT_TRUE(broker.notices(Board::failures, 10)->empty());  // nobody's fault
  Server quick;
  const RunningModelWorker next(broker, quick, options("next"));
  EXPECT_TRUE(asked.get());
}

TEST_F(ModelWorkerTest, KeepsALongQuestion) {
  server.seconds = 7.0;  // longer than the lease
  MemoryBroker brief{6.0};
  FleetChat to_brief(brief, "run");
  const RunningModelWorker one(brief, server, options("one"));
  const RunningModelWorker two(brief, server, options("two"));
  EXPECT_TRUE(to_brief.complete(llm::request_of("a"), never));
  EXPECT_EQ(server.calls, 1);
}

TEST_F(ModelWorkerTest, GivesUpWhatWorkersGoAwayWith) {
  auto asked = std::async(std::launch::async, [&] { return ask("a"); });
  const std::vector<std::string> lanes = {model_lane("tiny")};
  for (int delivery = 0; delivery < kMostDeliveries;) {
    if (auto lease = *broker.take(lanes, 1.0, never)) {
      lease->give_back(0.0);
      ++delivery;
    }
  }
  const RunningModelWorker worker(broker, server, options("one"));
  const auto answer = asked.get();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().failure, ChatFailure::unreachable);
  EXPECT_EQ(server.calls, 0);
}

TEST_F(ModelWorkerTest, IsSeen) {
  const RunningModelWorker worker(broker, server, options("one", 3));
  EXPECT_TRUE(ask("a"));
  std::map<std::string, std::string> notices;
  while (notices.empty())
    notices = *broker.notices(Board::workers, 10);
  const auto presence = read_presence(notices.at("one"));
  ASSERT_TRUE(presence.ok());
  EXPECT_EQ(places_of({*presence}, model_lane("tiny")), 3);
}

}  // namespace
}  // namespace regraph::fleet::model_worker_test
