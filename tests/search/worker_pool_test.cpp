#include "search/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <stdexcept>
#include <thread>

namespace regraph {
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

TEST(WorkerPool, RunsEveryJobOnceAndNeverMoreThanAllowed) {
  std::atomic<int> running{0};
  std::atomic<int> most{0};
  WorkerPool pool(3);
  std::set<std::shared_ptr<Job>> jobs;
  for (int index = 0; index < 40; ++index) {
    jobs.insert(std::make_shared<CountingJob>(running, most));
  }
  for (const auto& job : jobs)
    pool.submit(job);
  while (!jobs.empty()) {
    const std::shared_ptr<Job> done = pool.wait(milliseconds(5000));
    ASSERT_NE(done, nullptr);
    EXPECT_EQ(jobs.erase(done), 1U);
  }
  EXPECT_EQ(pool.wait(milliseconds(1)), nullptr);
  EXPECT_LE(most, 3);
}

TEST(WorkerPool, RunsJobsAtTheSameTime) {
  std::atomic<int> arrived{0};
  WorkerPool pool(2);
  pool.submit(std::make_shared<MeetingJob>(arrived));
  pool.submit(std::make_shared<MeetingJob>(arrived));
  EXPECT_NE(pool.wait(milliseconds(20000)), nullptr);
  EXPECT_NE(pool.wait(milliseconds(20000)), nullptr);
}

TEST(WorkerPool, ReportsExceptions) {
  WorkerPool pool(1);
  pool.submit(std::make_shared<ThrowingJob>());
  const std::shared_ptr<Job> done = pool.wait(milliseconds(5000));
  ASSERT_NE(done, nullptr);
  EXPECT_TRUE(done->threw);
}

TEST(WorkerPool, ASpareReplacesAWorkerThatIsWrittenOff) {
  std::atomic<int> running{0};
  std::atomic<int> most{0};
  WorkerPool pool(1);
  const auto stuck = std::make_shared<StubbornJob>();
  const auto next = std::make_shared<CountingJob>(running, most);
  pool.submit(stuck);
  pool.submit(next);
  std::shared_ptr<Job> lost;
  while (lost == nullptr)
    lost = pool.write_off(milliseconds(5));
  EXPECT_EQ(lost, stuck);
  EXPECT_EQ(pool.wait(milliseconds(5000)), next);  // and never the one written off
  EXPECT_FALSE(pool.crippled());
}

TEST(WorkerPool, DestructionStopsJobs) {
  const auto job = std::make_shared<StubbornJob>();
  {
    WorkerPool pool(1);
    pool.submit(job);
    pool.submit(std::make_shared<StubbornJob>());
  }
  EXPECT_TRUE(job->cancellation.requested());
}

}  // namespace
}  // namespace regraph
