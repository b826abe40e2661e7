// Servers that go, come back, forget, fill up and hang.
#include "fleet/nats/nats_trouble.h"

#include "base/files.h"
#include "fleet/nats/packing.h"
#include "fleet/nats/subjects.h"

#include <atomic>
#include <filesystem>
#include <vector>

namespace regraph::fleet::nats_trouble_test {
namespace {

using Clock = std::chrono::steady_clock;

// A worker that does jobs, whatever happens, until it goes.
class Worker {
 public:
  explicit Worker(Broker& broker)
      : thread_([this, &broker] {
          while (!stop_.requested()) {
            auto lease = broker.take({&kLane, 1}, 1.0, stop_);
            if (!lease.ok() || *lease == nullptr) continue;
            const std::string payload = (*lease)->job().payload;
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
            if ((*lease)->finish("result of " + payload, stop_).ok()) ++done_;
          }
        }) {}
  ~Worker() {
    stop_.request();
    thread_.join();
  }
  [[nodiscard]] int done() const { return done_; }

 private:
  Cancellation stop_;
  std::atomic<int> done_{0};
  std::thread thread_;
};

TEST_F(NatsTrouble, KilledServerLosesNothing) {
  constexpr int kAskers = 6;
  constexpr int kJobsEach = 40;
  NatsHouse& here = house(2.0);
  const Worker one(here.another());
  const Worker two(here.another());
  const Worker three(here.broker());
  std::atomic<int> answered{0};
  std::vector<std::thread> askers;
  askers.reserve(kAskers);
  for (int asker = 0; asker < kAskers; ++asker)
    askers.emplace_back([&, asker] {
      for (int number = 0; number < kJobsEach; ++number) {
        const Job job = numbered(asker * kJobsEach + number);
        const auto answer = here.broker().ask(job, kNever);
        ASSERT_TRUE(answer.ok()) << answer.error().message;
        ASSERT_EQ(*answer, "result of " + job.payload);
        ++answered;
      }
    });
  for (int round = 1; round <= 3; ++round) {
    while (answered < round * kAskers * kJobsEach / 5)
      std::this_thread::yield();
    here.server().kill();
    std::this_thread::sleep_for(std::chrono::milliseconds(200 * round));
    here.server().start();
  }
  for (std::thread& asker : askers)
    asker.join();
  EXPECT_EQ(answered, kAskers * kJobsEach);
  EXPECT_GE(here.told().count("is lost"), 3);
  EXPECT_GE(here.told().count("is back"), 3);
}

TEST_F(NatsTrouble, EmptiedStoreIsFilledAgain) {
  NatsHouse& here = house();
  const Job job = numbered(1);
  auto answer = asked(here.broker(), job);
  ASSERT_TRUE(queued(here.broker()));
  ASSERT_EQ(taken(here.another(), 0.1)->job().payload, job.payload);
  here.server().kill();
  here.server().empty_store();
  here.server().start();
  // Whoever asks queues it again, and a worker finds it.
  auto lease = taken(here.another());
  ASSERT_NE(lease, nullptr);
  EXPECT_TRUE(*lease->finish("x", kNever));
  EXPECT_EQ(*answer.get(), "x");
  ASSERT_TRUE(here.broker().post(Board::workers, "w", "there").ok());
  EXPECT_EQ(*here.another().read(Board::workers, "w"), "there");
}

// As a server does that was killed before it had written what it removed, but not what its consumer
// had acknowledged.
TEST_F(NatsTrouble, JobsThatComeBackFromTheDiskAreDone) {
  NatsHouse& here = house();
  const Job job = numbered(1);
  auto answer = asked(here.broker(), job);
  ASSERT_TRUE(queued(here.broker()));
  const std::filesystem::path messages =
      here.server().folder() / "store" / "jetstream" / "$G" / "streams" / "regraph_jobs" / "msgs";
  const TemporaryDirectory kept = *TemporaryDirectory::create("regraph-nats-kept");
  here.server().stop();
  ASSERT_TRUE(std::filesystem::exists(messages));
  std::filesystem::copy(messages, kept.path() / "msgs", std::filesystem::copy_options::recursive);
  here.server().start();
  ASSERT_TRUE(queued(here.another()));  // it is connected again
  auto first = taken(here.another());
  ASSERT_NE(first, nullptr);
  EXPECT_TRUE(*first->finish("x", kNever));
  EXPECT_EQ(*answer.get(), "x");
  const auto forgotten =
      ask_api(stranger(), fmt::format("STREAM.PURGE.KV_{}", kResultBucket), nullptr, kNever);
  ASSERT_TRUE(forgotten.ok() && forgotten->refusal == ApiRefusal::none);
  here.server().stop();
  std::filesystem::remove_all(messages);
  std::filesystem::copy(kept.path() / "msgs", messages, std::filesystem::copy_options::recursive);
  here.server().start();
  ASSERT_TRUE(queued(here.another()));
  ASSERT_EQ(taken(here.another(), 0.5), nullptr);  // the server does not hand it out

  auto anew = asked(here.broker(), job);
  auto lease = taken(here.another(), 20.0);
  ASSERT_NE(lease, nullptr);
  EXPECT_TRUE(*lease->finish("y", kNever));
  EXPECT_EQ(*anew.get(), "y");
}

// As a server does that was killed before it had written that somebody has a message.
TEST_F(NatsTrouble, JobsThatWereUnderWayAndAreForgottenAreDone) {
  NatsHouse& here = house();
  Cancellation cancellation;
  auto answer = asked(here.broker(), numbered(1), cancellation);
  const auto gone = taken(here.another());
  ASSERT_NE(gone, nullptr);
  here.server().stop();
  const std::filesystem::path state = here.server().folder() / "store" / "jetstream" / "$G" /
                                      "streams" / "regraph_jobs" / "obs" / lane_token(kLane) /
                                      "o.dat";
  ASSERT_TRUE(std::filesystem::exists(state));
  // Of the server's file store: magic, version; acknowledged up to message 0, as the consumer's
  // first; delivered up to message 1; nothing under way, nothing delivered twice.
  const std::string past_it("\x16\x02\x01\x00\x01\x01\x00\x00", 8);
  ASSERT_TRUE(write_file(state, past_it).ok());
  here.server().start();
  ASSERT_TRUE(queued(here.another()));  // it waits, though nobody will be given it

  auto lease = taken(here.another(), 20.0);
  if (lease == nullptr) cancellation.request();  // nobody would ever answer
  ASSERT_NE(lease, nullptr);
  EXPECT_TRUE(*lease->finish("x", kNever));
  EXPECT_EQ(*answer.get(), "x");
}

TEST_F(NatsTrouble, StreamsRemovedUnderneathAreMadeAgain) {
  NatsHouse& here = house();
  auto answer = asked(here.broker(), numbered(1));
  ASSERT_TRUE(queued(here.broker()));
  for (const char* const name : {"regraph_jobs", "KV_regraph_results", "KV_regraph_workers"})
    remove_stream(name);
  auto lease = taken(here.another());
  ASSERT_NE(lease, nullptr);
  EXPECT_TRUE(*lease->finish("x", kNever));
  EXPECT_EQ(*answer.get(), "x");
  ASSERT_TRUE(here.broker().post(Board::workers, "w", "there").ok());
}

TEST_F(NatsTrouble, ConsumerRemovedWhileAWorkerWaitsIsMadeAgain) {
  NatsHouse& here = house();
  auto lease = std::async(std::launch::async, [&] { return taken(here.another(), 20.0); });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const auto removed =
      ask_api(stranger(), "CONSUMER.DELETE.regraph_jobs." + lane_token(kLane), nullptr, kNever);
  ASSERT_TRUE(removed.ok() && removed->refusal == ApiRefusal::none);
  auto answer = asked(here.broker(), numbered(1));
  const auto got = lease.get();
  ASSERT_NE(got, nullptr);
  EXPECT_TRUE(*got->finish("x", kNever));
  EXPECT_EQ(*answer.get(), "x");
}

TEST_F(NatsTrouble, ResultNobodyToldOfIsFound) {
  NatsHouse& here = house();
  const Job job = numbered(1);
  auto answer = asked(here.broker(), job);
  ASSERT_TRUE(queued(here.broker()));
  const auto before = Clock::now();
  write(fmt::format("$KV.{}.{}", kResultBucket, job.id.hex()), pack("found"));
  EXPECT_EQ(*answer.get(), "found");
  EXPECT_LT(Clock::now() - before, std::chrono::seconds(8));
  // It is no job any more.
  EXPECT_EQ(taken(here.another(), 0.2), nullptr);
  EXPECT_EQ(here.broker().state(kLane)->waiting, 0U);
}

TEST_F(NatsTrouble, ResultWrittenWhileTheServerWasAwayIsFoundAtOnce) {
  NatsHouse& here = house();
  const Job job = numbered(1);
  auto answer = asked(here.broker(), job);
  auto lease = taken(here.another());
  ASSERT_NE(lease, nullptr);
  here.server().stop();
  auto written = std::async(std::launch::async, [&] { return lease->finish("x", kNever); });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  here.server().start();
  const auto before = Clock::now();
  EXPECT_TRUE(*written.get());
  EXPECT_EQ(*answer.get(), "x");
  EXPECT_LT(Clock::now() - before, std::chrono::seconds(4));
}

TEST_F(NatsTrouble, FullServerIsWaitedOut) {
  NatsHouse& here = house();
  const auto limit = [&](std::int64_t bytes) {
    const auto info = ask_api(stranger(), "STREAM.INFO.regraph_jobs", nullptr, kNever);
    nlohmann::json config = info->content["config"];
    config["max_bytes"] = bytes;
    const auto answer = ask_api(stranger(), "STREAM.UPDATE.regraph_jobs", config, kNever);
    ASSERT_TRUE(answer.ok());
    ASSERT_EQ(answer->refusal, ApiRefusal::none) << answer->description;
  };
  limit(3);
  auto answer = asked(here.broker(), numbered(1));
  EXPECT_EQ(answer.wait_for(std::chrono::milliseconds(1500)), std::future_status::timeout);
  EXPECT_EQ(here.told().count("trying again"), 1);
  limit(-1);
  EXPECT_TRUE(*taken(here.another())->finish("x", kNever));
  EXPECT_EQ(*answer.get(), "x");
  EXPECT_EQ(here.told().count("again"), 2);
}

TEST_F(NatsTrouble, NobodyHangsWhileTheServerIsAway) {
  NatsHouse& here = house();
  auto lease = [&] {
    auto answer = asked(here.broker(), numbered(1));
    auto got = taken(here.another());
    EXPECT_TRUE(*got->finish("x", kNever));
    return got;
  }();
  here.server().kill();
  Cancellation cancellation;
  auto asks = asked(here.broker(), numbered(2), cancellation);
  auto finishes = std::async(std::launch::async, [&] { return lease->finish("y", cancellation); });
  const auto before = Clock::now();
  const auto take = here.another().take({&kLane, 1}, 0.5, kNever);
  ASSERT_FALSE(take.ok());
  EXPECT_EQ(take.error().code, ErrorCode::io);
  EXPECT_LT(Clock::now() - before, std::chrono::milliseconds(1500));
  lease->extend();
  lease->give_back(0.0);
  cancellation.request();
  const auto stopped = Clock::now();
  EXPECT_EQ(asks.get().error().code, ErrorCode::cancelled);
  EXPECT_EQ(finishes.get().error().code, ErrorCode::cancelled);
  EXPECT_LT(Clock::now() - stopped, std::chrono::milliseconds(500));
}

TEST_F(NatsTrouble, HangingServerIsWaitedOut) {
  NatsHouse& here = house();
  here.server().freeze();
  Cancellation cancellation;
  auto cancelled = asked(here.broker(), numbered(1), cancellation);
  auto answer = asked(here.broker(), numbered(2));
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  const auto before = Clock::now();
  cancellation.request();
  EXPECT_EQ(cancelled.get().error().code, ErrorCode::cancelled);
  EXPECT_LT(Clock::now() - before, std::chrono::milliseconds(500));
  here.server().thaw();
  // The first may be queued, too: it was asked for.
  std::string done;
  while (done != numbered(2).payload) {
    const auto lease = taken(here.another());
    ASSERT_NE(lease, nullptr);
    done = lease->job().payload;
    EXPECT_TRUE(*lease->finish("x", kNever));
  }
  EXPECT_EQ(*answer.get(), "x");
}

TEST_F(NatsTrouble, WorkersThatGoWithoutAWordLoseNoJobs) {
  NatsHouse& here = house(1.0);
  auto answer = asked(here.broker(), numbered(1));
  {
    auto gone = connect_nats(here.options());
    ASSERT_TRUE(gone.ok());
    ASSERT_NE(taken(**gone), nullptr);
  }
  const auto lease = taken(here.another());
  ASSERT_NE(lease, nullptr);
  EXPECT_EQ(lease->deliveries(), 2);
  EXPECT_TRUE(*lease->finish("x", kNever));
  EXPECT_EQ(*answer.get(), "x");
}

TEST_F(NatsTrouble, ManyConnectionsComeAndGo) {
  NatsHouse& here = house();
  for (int round = 0; round < 30; ++round) {
    auto broker = connect_nats(here.options());
    ASSERT_TRUE(broker.ok()) << broker.error().message;
    const std::vector<std::string> lanes = {"a", "b"};
    ASSERT_TRUE((*broker)->take(lanes, 0.0, kNever).ok());
    if (round % 2 == 0) {
      // Gone in the middle of a wait.
      Cancellation cancellation;
      auto take = std::async(std::launch::async,
                             [&] { return (*broker)->take(lanes, 5.0, cancellation).ok(); });
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      cancellation.request();
      EXPECT_TRUE(take.get());
    }
  }
}

}  // namespace
}  // namespace regraph::fleet::nats_trouble_test
