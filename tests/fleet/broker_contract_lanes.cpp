#include "fleet/broker_contract.h"
#include "fleet/contract_people.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace regraph::fleet {

namespace {

TEST_P(BrokerContract, CancelledTakeReturnsSoon) {
  OPEN_OR_SKIP();
  Cancellation cancellation;
  const std::vector<std::string> lanes = {"one", "two"};
  auto taken =
      std::async(std::launch::async, [&] { return broker().take(lanes, 30.0, cancellation); });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const auto before = std::chrono::steady_clock::now();
  cancellation.request();
  const auto lease = taken.get();
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(1));
  ASSERT_TRUE(lease.ok()) << lease.error().message;
  EXPECT_EQ(*lease, nullptr);
  // A job that comes now is nobody's.
  const Job job = job_of("later", "two");
  Asker asker(broker(), job);
  const auto later = take_one(broker(), "two");
  ASSERT_NE(later, nullptr);
  expect_first(*later, "x");
}

TEST_P(BrokerContract, WhatIsTakenBackIsNobodys) {
  OPEN_OR_SKIP();
  const Job waiting = job_of("waiting", "one");
  const Job held = job_of("held", "two");
  std::unique_ptr<Lease> lease;
  {
    Asker first(broker(), waiting);
    Asker second(broker(), held);
    while (broker().state("one")->waiting == 0)
      std::this_thread::yield();
    lease = take_one(broker(), "two");
    ASSERT_NE(lease, nullptr);
  }
  broker().take_back(waiting);
  broker().take_back(held);
  broker().take_back(job_of("never asked for", "one"));
  for (const char* const lane : {"one", "two"}) {
    EXPECT_EQ(broker().state(lane)->waiting, 0U) << lane;
    EXPECT_EQ(broker().state(lane)->under_way, 0U) << lane;
  }
  EXPECT_EQ(take_one(broker(), "one", 0.2), nullptr);
  // Whoever was at it may finish, and its result is there for all.
  expect_first(*lease, "done");
  Asker again(broker(), held);
  EXPECT_EQ(*again.answer(), "done");
  // And whoever wants it after all gets it.
  Asker anew(broker(), waiting);
  const auto later = take_one(broker(), "one");
  ASSERT_NE(later, nullptr);
  expect_first(*later, "late");
  EXPECT_EQ(*anew.answer(), "late");
}

TEST_P(BrokerContract, WhoStillWaitsQueuesAgainWhatIsTakenBack) {
  OPEN_OR_SKIP();
  const Job job = job_of("wanted", "one");
  Asker asker(broker(), job);
  while (broker().state("one")->waiting == 0)
    std::this_thread::yield();
  broker().take_back(job);
  const auto lease = take_one(broker(), "one", 15.0);
  ASSERT_NE(lease, nullptr);
  expect_first(*lease, "x");
  EXPECT_EQ(*asker.answer(), "x");
}

TEST_P(BrokerContract, TakeWithoutJobsWaitsAsLongAsItShould) {
  OPEN_OR_SKIP();
  const auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(take_one(broker(), "nothing.here", 0.4), nullptr);
  const auto waited = std::chrono::steady_clock::now() - before;
  EXPECT_GE(waited, std::chrono::milliseconds(380));
  EXPECT_LT(waited, std::chrono::milliseconds(1500));
  EXPECT_EQ(take_one(broker(), "nothing.here", 0.0), nullptr);
}

TEST_P(BrokerContract, LanesAreTakenInOrder) {
  OPEN_OR_SKIP();
  const std::vector<std::string> lanes = {"gpu.h100", "gpu.a100", "predict"};
  std::vector<std::unique_ptr<Asker>> askers;
  for (const char* const lane : {"predict", "gpu.a100", "gpu.h100", "other"})
    for (int number = 0; number < 2; ++number)
      askers.push_back(std::make_unique<Asker>(broker(), job_of(std::to_string(number), lane)));
  for (const char* const lane : {"predict", "gpu.a100", "gpu.h100", "other"})
    while (broker().state(lane)->waiting < 2)
      std::this_thread::yield();
  for (const char* const lane :
       {"gpu.h100", "gpu.h100", "gpu.a100", "gpu.a100", "predict", "predict"}) {
    auto lease = another().take(lanes, 1.0, kNever);
    ASSERT_TRUE(lease.ok() && *lease != nullptr);
    EXPECT_EQ((*lease)->job().lane, lane);
    expect_first(**lease, lane);
  }
  EXPECT_EQ(*another().take(lanes, 0.1, kNever), nullptr);
  EXPECT_EQ(broker().state("other")->waiting, 2U);
}

TEST_P(BrokerContract, WaitingOnSeveralLanesLosesNothing) {
  OPEN_OR_SKIP();
  const std::vector<std::string> lanes = {"a", "b", "c"};
  for (int round = 0; round < 10; ++round) {
    auto taken =
        std::async(std::launch::async, [&] { return another().take(lanes, 10.0, kNever); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    // All at once: one is taken, the others must not be held by anybody.
    std::vector<std::unique_ptr<Asker>> askers;
    askers.reserve(lanes.size());
    for (const std::string& lane : lanes)
      askers.push_back(std::make_unique<Asker>(broker(), job_of(std::to_string(round), lane)));
    auto first = taken.get();
    ASSERT_TRUE(first.ok() && *first != nullptr);
    expect_first(**first, "done");
    for (int more = 0; more < 2; ++more) {
      auto next = broker().take(lanes, 3.0, kNever);
      ASSERT_TRUE(next.ok() && *next != nullptr) << "round " << round;
      expect_first(**next, "done");
    }
    for (const auto& asker : askers)
      EXPECT_EQ(*asker->answer(), "done");
  }
}

TEST_P(BrokerContract, IdleWorkerNoticesAJobSoon) {
  OPEN_OR_SKIP();
  for (const std::vector<std::string>& lanes :
       {std::vector<std::string>{"only"}, std::vector<std::string>{"first", "only"}}) {
    const Job job = job_of(std::to_string(lanes.size()), "only");
    auto taken =
        std::async(std::launch::async, [&] { return another().take(lanes, 10.0, kNever); });
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    const auto before = std::chrono::steady_clock::now();
    Asker asker(broker(), job);
    auto lease = taken.get();
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - before;
    ASSERT_TRUE(lease.ok() && *lease != nullptr);
    // 50 ms are promised; a test machine may be busy.
    EXPECT_LT(waited.count(), 0.25);
    expect_first(**lease, "x");
  }
}

TEST_P(BrokerContract, StateCounts) {
  OPEN_OR_SKIP();
  const std::string lane = "counted-1.0";
  EXPECT_EQ(broker().state(lane)->waiting, 0U);
  std::vector<std::unique_ptr<Asker>> askers;
  askers.reserve(5);
  for (int number = 0; number < 5; ++number)
    askers.push_back(std::make_unique<Asker>(broker(), job_of(std::to_string(number), lane)));
  while (broker().state(lane)->waiting < 5)
    std::this_thread::yield();
  const auto one = take_one(broker(), lane);
  const auto two = take_one(broker(), lane);
  ASSERT_TRUE(one != nullptr && two != nullptr);
  EXPECT_EQ(broker().state(lane)->waiting, 3U);
  EXPECT_EQ(broker().state(lane)->under_way, 2U);
  expect_first(*one, "");
  EXPECT_EQ(broker().state(lane)->waiting, 3U);
  EXPECT_EQ(broker().state(lane)->under_way, 1U);
}

TEST_P(BrokerContract, ManyThreadsDoEveryJobOnce) {
  OPEN_OR_SKIP();
  constexpr int kThreads = 8;
  constexpr int kJobsEach = 60;
  const std::string lane = "crowd";
  std::atomic<bool> over{false};
  std::mutex mutex;
  std::multiset<std::string> done;
  std::vector<std::thread> workers;
  workers.reserve(kThreads);
  for (int worker = 0; worker < kThreads; ++worker)
    workers.emplace_back([&, worker] {
      Broker& mine = worker % 2 == 0 ? broker() : another();
      while (!over) {
        auto lease = mine.take({&lane, 1}, 0.3, kNever);
        ASSERT_TRUE(lease.ok()) << lease.error().message;
        if (*lease == nullptr) continue;
        {
          const std::lock_guard lock(mutex);
          done.insert((*lease)->job().payload);
        }
        expect_first(**lease, "result of " + (*lease)->job().payload);
      }
    });
  std::vector<std::thread> askers;
  askers.reserve(kThreads);
  for (int asker = 0; asker < kThreads; ++asker)
    askers.emplace_back([&, asker] {
      Broker& mine = asker % 2 == 0 ? another() : broker();
      for (int number = 0; number < kJobsEach; ++number) {
        // Half of them are asked for by two.
        const int whose = number % 2 == 0 ? asker : asker / 2;
        const std::string payload = fmt::format("{}/{}", whose, number);
        const auto answer = mine.ask(job_of(payload, lane), kNever);
        ASSERT_TRUE(answer.ok()) << answer.error().message;
        ASSERT_EQ(*answer, "result of " + payload);
      }
    });
  for (std::thread& asker : askers)
    asker.join();
  over = true;
  for (std::thread& worker : workers)
    worker.join();
  const std::set<std::string> different(done.begin(), done.end());
  EXPECT_EQ(different.size(), std::size_t{kThreads * kJobsEach * 3 / 4});
  EXPECT_EQ(done.size(), different.size());
  EXPECT_EQ(broker().state(lane)->waiting, 0U);
}

}  // namespace

}  // namespace regraph::fleet
