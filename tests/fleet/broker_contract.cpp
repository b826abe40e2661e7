#include "fleet/broker_contract.h"

#include "base/cancellation.h"
#include "base/hash.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace regraph::fleet {

#define OPEN_OR_SKIP(...) \
  if (!open(__VA_ARGS__)) GTEST_SKIP() << "needs " << GetParam().missing

bool BrokerContract::open(double lease_seconds) {
  house_ = GetParam().build(lease_seconds);
  return house_ != nullptr;
}

namespace {

const Cancellation kNever;

Job job_of(const std::string& payload, const std::string& lane = "predict-0.1.0-3f2a9c") {
  return {.lane = lane, .id = hash_text(lane + "/" + payload), .payload = payload};
}

std::unique_ptr<Lease> take_one(JobSource& source, const std::string& lane, double seconds = 5.0) {
  auto taken = source.take({&lane, 1}, seconds, kNever);
  EXPECT_TRUE(taken.ok()) << (taken.ok() ? "" : taken.error().message);
  return taken.ok() ? *std::move(taken) : nullptr;
}

// Asks on a thread of its own, until it goes.
class Asker {
 public:
  Asker(JobQueue& queue, Job job)
      : answer_(std::async(std::launch::async, [this, &queue, job = std::move(job)] {
          return queue.ask(job, cancellation_);
        })) {}
  ~Asker() { cancellation_.request(); }
  void cancel() { cancellation_.request(); }
  Result<std::string> answer() { return answer_.get(); }
  bool answered(double seconds) {
    return answer_.wait_for(std::chrono::duration<double>(seconds)) == std::future_status::ready;
  }

 private:
  Cancellation cancellation_;
  std::future<Result<std::string>> answer_;
};

void expect_first(Lease& lease, std::string_view result, bool first = true) {
  const auto written = lease.finish(result, kNever);
  ASSERT_TRUE(written.ok()) << written.error().message;
  EXPECT_EQ(*written, first);
}

TEST_P(BrokerContract, ResultComesToWhoAsks) {
  OPEN_OR_SKIP();
  const Job job = job_of("a payload");
  Asker asker(broker(), job);
  const auto lease = take_one(another(), job.lane);
  ASSERT_NE(lease, nullptr);
  EXPECT_EQ(lease->job().payload, job.payload);
  EXPECT_EQ(lease->job().lane, job.lane);
  EXPECT_EQ(lease->job().id, job.id);
  EXPECT_EQ(lease->deliveries(), 1);
  expect_first(*lease, "the result");
  const auto answer = asker.answer();
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(*answer, "the result");
}

TEST_P(BrokerContract, KnownResultComesAtOnceAndIsNoJob) {
  OPEN_OR_SKIP();
  const Job job = job_of("known");
  {
    Asker asker(broker(), job);
    const auto lease = take_one(broker(), job.lane);
    ASSERT_NE(lease, nullptr);
    expect_first(*lease, "42");
    EXPECT_EQ(*asker.answer(), "42");
  }
  EXPECT_EQ(*another().ask(job, kNever), "42");
  EXPECT_EQ(take_one(broker(), job.lane, 0.1), nullptr);
}

TEST_P(BrokerContract, EmptyAndBinaryBytesTravel) {
  OPEN_OR_SKIP();
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte)
    bytes.push_back(static_cast<char>(byte));
  for (const std::string& text : {std::string(), bytes}) {
    const Job job = job_of(text);
    Asker asker(broker(), job);
    const auto lease = take_one(another(), job.lane);
    ASSERT_NE(lease, nullptr);
    EXPECT_EQ(lease->job().payload, text);
    expect_first(*lease, text);
    EXPECT_EQ(*asker.answer(), text);
  }
}

TEST_P(BrokerContract, JobsAskedForTwiceAreQueuedOnce) {
  OPEN_OR_SKIP();
  const Job job = job_of("twice");
  Asker one(broker(), job);
  Asker two(another(), job);
  const auto lease = take_one(broker(), job.lane);
  ASSERT_NE(lease, nullptr);
  // Neither while it waits nor while somebody has it.
  Asker three(broker(), job);
  EXPECT_EQ(take_one(broker(), job.lane, 0.3), nullptr);
  expect_first(*lease, "once");
  EXPECT_EQ(*one.answer(), "once");
  EXPECT_EQ(*two.answer(), "once");
  EXPECT_EQ(*three.answer(), "once");
}

TEST_P(BrokerContract, LeaseThatRunsOutGivesTheJobToAnother) {
  OPEN_OR_SKIP(0.5);
  const Job job = job_of("slow");
  Asker asker(broker(), job);
  const auto slow = take_one(broker(), job.lane);
  ASSERT_NE(slow, nullptr);
  const auto quick = take_one(another(), job.lane);
  ASSERT_NE(quick, nullptr);
  EXPECT_EQ(quick->deliveries(), 2);
  // The first to write it wins, and it is no error to be late.
  expect_first(*quick, "quick");
  expect_first(*slow, "slow", false);
  EXPECT_EQ(*asker.answer(), "quick");
  EXPECT_EQ(*broker().ask(job, kNever), "quick");
  EXPECT_EQ(take_one(broker(), job.lane, 0.8), nullptr);
}

TEST_P(BrokerContract, LateWorkerMayBeFirst) {
  OPEN_OR_SKIP(0.4);
  const Job job = job_of("late but first");
  Asker asker(broker(), job);
  const auto late = take_one(broker(), job.lane);
  ASSERT_NE(late, nullptr);
  const auto second = take_one(another(), job.lane);
  ASSERT_NE(second, nullptr);
  expect_first(*late, "late");
  expect_first(*second, "second", false);
  EXPECT_EQ(*asker.answer(), "late");
}

TEST_P(BrokerContract, ExtendedLeaseIsKept) {
  OPEN_OR_SKIP(0.6);
  const Job job = job_of("long");
  Asker asker(broker(), job);
  const auto lease = take_one(broker(), job.lane);
  ASSERT_NE(lease, nullptr);
  for (int part = 0; part < 6; ++part) {
    EXPECT_EQ(take_one(another(), job.lane, 0.2), nullptr);
    lease->extend();
  }
  expect_first(*lease, "done");
  EXPECT_EQ(*asker.answer(), "done");
}

TEST_P(BrokerContract, JobsGivenBackAreHadByOthers) {
  OPEN_OR_SKIP();
  const Job job = job_of("given back");
  Asker asker(broker(), job);
  auto lease = take_one(broker(), job.lane);
  ASSERT_NE(lease, nullptr);
  lease->give_back(0.0);
  lease = take_one(another(), job.lane);
  ASSERT_NE(lease, nullptr);
  EXPECT_EQ(lease->deliveries(), 2);
  const auto before = std::chrono::steady_clock::now();
  lease->give_back(0.5);
  lease = take_one(broker(), job.lane);
  ASSERT_NE(lease, nullptr);
  EXPECT_EQ(lease->deliveries(), 3);
  EXPECT_GE(std::chrono::steady_clock::now() - before, std::chrono::milliseconds(450));
  expect_first(*lease, "third");
  EXPECT_EQ(*asker.answer(), "third");
}

TEST_P(BrokerContract, CancelledAskLeavesTheJob) {
  OPEN_OR_SKIP();
  const Job job = job_of("left");
  {
    Asker asker(broker(), job);
    EXPECT_FALSE(asker.answered(0.3));
    asker.cancel();
    const auto answer = asker.answer();
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, ErrorCode::cancelled);
  }
  const auto lease = take_one(another(), job.lane);
  ASSERT_NE(lease, nullptr);
  expect_first(*lease, "still done");
  EXPECT_EQ(*broker().ask(job, kNever), "still done");
}

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

TEST_P(BrokerContract, WrongNamesAreRefused) {
  OPEN_OR_SKIP();
  for (const std::string& lane :
       {std::string(), std::string("a_b"), std::string("a*"), std::string("a>"), std::string("a b"),
        std::string("a\r\nPUB x"), std::string(101, 'a')}) {
    EXPECT_EQ(broker().ask(job_of("x", lane), kNever).error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(broker().take({&lane, 1}, 0.1, kNever).error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(broker().state(lane).error().code, ErrorCode::invalid_argument);
  }
  for (const char* const key : {"", "a.b", "*", "a b"}) {
    EXPECT_EQ(broker().post(Board::workers, key, "x").error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(broker().read(Board::workers, key).error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(broker().withdraw(Board::workers, key).error().code, ErrorCode::invalid_argument);
  }
  EXPECT_EQ(broker().keep(hash_text("a"), "b", kNever).error().code, ErrorCode::invalid_argument);
}

TEST_P(BrokerContract, BlobsOfAnyLengthAreKept) {
  OPEN_OR_SKIP();
  std::string noise(3 << 20, '\0');
  std::uint64_t state = 1;
  for (char& byte : noise) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    byte = static_cast<char>(state >> 56);
  }
  for (const std::string& bytes : {std::string(), std::string("short"), std::string(512 << 10, 'x'),
                                   std::string((512 << 10) + 1, 'y'), noise}) {
    const Hash128 id = hash_text(bytes);
    EXPECT_EQ(another().fetch(id).error().code, ErrorCode::not_found);
    for (int twice = 0; twice < 2; ++twice) {
      const Status kept = broker().keep(id, bytes, kNever);
      ASSERT_TRUE(kept.ok()) << kept.error().message;
    }
    const auto fetched = another().fetch(id);
    ASSERT_TRUE(fetched.ok()) << fetched.error().message;
    EXPECT_TRUE(*fetched == bytes);
  }
}

TEST_P(BrokerContract, NoticesAreReadReplacedAndWithdrawn) {
  OPEN_OR_SKIP();
  EXPECT_EQ(*broker().read(Board::failures, "nobody"), "");
  for (const char* const key : {"d", "b", "a", "c"})
    ASSERT_TRUE(broker().post(Board::failures, key, std::string("text of ") + key).ok());
  ASSERT_TRUE(broker().post(Board::workers, "a", "a worker").ok());
  ASSERT_TRUE(broker().post(Board::failures, "b", "newer").ok());
  EXPECT_EQ(*another().read(Board::failures, "b"), "newer");
  EXPECT_EQ(*another().read(Board::workers, "a"), "a worker");
  using Notices = std::map<std::string, std::string>;
  EXPECT_EQ(*another().notices(Board::failures, 3),
            (Notices{{"a", "text of a"}, {"b", "newer"}, {"c", "text of c"}}));
  ASSERT_TRUE(broker().withdraw(Board::failures, "a").ok());
  ASSERT_TRUE(broker().withdraw(Board::failures, "never-there").ok());
  EXPECT_EQ(*another().read(Board::failures, "a"), "");
  EXPECT_EQ(another().notices(Board::failures, 100)->size(), 3U);
  EXPECT_EQ(another().notices(Board::workers, 100)->size(), 1U);
  EXPECT_EQ(another().notices(Board::workers, 0)->size(), 0U);
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
