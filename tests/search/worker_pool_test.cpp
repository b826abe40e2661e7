#include "search/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace regraph::worker_pool_test {
namespace {

using std::chrono::milliseconds;

class CountingJob final : public Job {
 public:
  explicit CountingJob(std::atomic<int>& running, std::atomic<int>& most)
      : running_(running), most_(most) {}
  void run() override {
    const int now = ++running_;
    int seen = most_.load();
    while (now > seen && !most_.compare_exchange_weak(seen, now)) {
    }
    std::this_thread::sleep_for(milliseconds(2));
    --running_;
  }

 private:
  std::atomic<int>& running_;
  std::atomic<int>& most_;
};

// Ends only if another one runs at the same time.
class MeetingJob final : public Job {
 public:
  explicit MeetingJob(std::atomic<int>& arrived) : arrived_(arrived) {}
  void run() override {
    ++arrived_;
    while (arrived_ < 2 && !cancellation.requested())
      std::this_thread::yield();
  }

 private:
  std::atomic<int>& arrived_;
};

class StubbornJob final : public Job {
 public:
  void run() override {
    while (!cancellation.requested())
      std::this_thread::sleep_for(milliseconds(1));
  }
};

class ThrowingJob final : public Job {
 public:
  void run() override { throw std::runtime_error("no"); }
};

// Waits for a completion, however long it takes within reason.
bool wait_long(WorkerPool& pool) {
  return pool.wait(milliseconds(20000));
}

TEST(WorkerPool, RunsEveryJobOnceAndNeverMoreThanAllowed) {
  std::atomic<int> running{0};
  std::atomic<int> most{0};
  WorkerPool pool(3);
  std::vector<int> ended(40);
  for (int& count : ended) {
    pool.submit(std::make_shared<CountingJob>(running, most), [&count](Ending ending) {
      EXPECT_EQ(ending, Ending::finished);
      ++count;
    });
  }
  for (std::size_t index = 0; index < ended.size(); ++index)
    ASSERT_TRUE(wait_long(pool));
  EXPECT_EQ(ended, std::vector<int>(40, 1));
  EXPECT_FALSE(pool.wait(milliseconds(1)));
  EXPECT_LE(most, 3);
  EXPECT_GT(pool.busy_seconds(), 40 * 0.002);
  EXPECT_EQ(pool.ahead_seconds(), 0.0);
}

TEST(WorkerPool, RunsJobsAtTheSameTime) {
  std::atomic<int> arrived{0};
  WorkerPool pool(2);
  int ended = 0;
  for (int index = 0; index < 2; ++index)
    pool.submit(std::make_shared<MeetingJob>(arrived), [&](Ending) { ++ended; });
  EXPECT_TRUE(wait_long(pool));
  EXPECT_TRUE(wait_long(pool));
  EXPECT_EQ(ended, 2);
}

TEST(WorkerPool, ReportsExceptions) {
  WorkerPool pool(1);
  Ending how = Ending::finished;
  pool.submit(std::make_shared<ThrowingJob>(), [&](Ending ending) { how = ending; });
  ASSERT_TRUE(wait_long(pool));
  EXPECT_EQ(how, Ending::threw);
}

TEST(WorkerPool, ASpareReplacesAWorkerThatIsWrittenOff) {
  std::atomic<int> running{0};
  std::atomic<int> most{0};
  WorkerPool pool(1);
  std::vector<Ending> stuck;
  bool next = false;
  pool.submit(std::make_shared<StubbornJob>(), [&](Ending ending) { stuck.push_back(ending); });
  pool.submit(std::make_shared<CountingJob>(running, most), [&](Ending) { next = true; });
  while (stuck.empty())
    pool.write_off(milliseconds(5));
  EXPECT_EQ(stuck, std::vector<Ending>{Ending::lost});
  EXPECT_TRUE(wait_long(pool));  // and never for the one written off
  EXPECT_TRUE(next);
  EXPECT_EQ(stuck.size(), 1U);
  EXPECT_FALSE(pool.crippled());
}

TEST(WorkerPool, DestructionStopsJobs) {
  const auto job = std::make_shared<StubbornJob>();
  bool called = false;
  {
    WorkerPool pool(1);
    pool.submit(job, [&](Ending) { called = true; });
    pool.submit(std::make_shared<StubbornJob>(), [&](Ending) { called = true; });
  }
  EXPECT_TRUE(job->cancellation.requested());
  EXPECT_FALSE(called);
}

// What is submitted starts at once although work ahead keeps every worker busy, and work ahead
// never waits in a queue.
TEST(WorkerPool, WorkAheadTakesNobodysPlace) {
  WorkerPool pool(2, 3);
  const auto ahead = std::make_shared<StubbornJob>();
  bool stopped = false;
  EXPECT_EQ(pool.idle(), 3);
  EXPECT_TRUE(pool.start_ahead(ahead, [&](Ending) { stopped = true; }));
  EXPECT_TRUE(pool.start_ahead(std::make_shared<StubbornJob>(), [](Ending) {}));
  EXPECT_TRUE(pool.start_ahead(std::make_shared<StubbornJob>(), [](Ending) {}));
  EXPECT_FALSE(pool.start_ahead(std::make_shared<StubbornJob>(), [](Ending) {}));
  std::atomic<int> arrived{0};
  int ended = 0;
  for (int index = 0; index < 2; ++index)
    pool.submit(std::make_shared<MeetingJob>(arrived), [&](Ending) { ++ended; });
  EXPECT_EQ(pool.idle(), -2);
  EXPECT_TRUE(wait_long(pool));
  EXPECT_TRUE(wait_long(pool));
  EXPECT_EQ(ended, 2);
  // One that outlives the limit is asked to stop, and no worker is lost with it.
  pool.write_off(milliseconds(0));
  EXPECT_TRUE(stopped);
  EXPECT_FALSE(pool.crippled());
  pool.finish();
  EXPECT_EQ(pool.idle(), 3);
  EXPECT_GT(pool.ahead_seconds(), 0.0);
}

}  // namespace
}  // namespace regraph::worker_pool_test
