// Runs jobs on oneTBB workers and hands their completions to one owner thread.
#pragma once

#include "base/cancellation.h"

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

namespace regraph {

// A piece of work. `run` is called once on a worker; it may throw. Owned jointly by the owner and
// the worker, so that either may let go first.
class Job {
 public:
  virtual ~Job() = default;
  virtual void run() = 0;

  Cancellation cancellation;  // polled by run()
  bool threw = false;         // run() ended by an exception; valid after completion
};

// At most `workers` jobs run at once, the rest waits in order. A job that the owner writes off
// keeps its thread, but a spare takes its place. Member functions are for the owner thread only.
class WorkerPool {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr int kSpareWorkers = 16;

  explicit WorkerPool(int workers);
  // Asks all jobs to stop and waits for those that run.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  void submit(std::shared_ptr<Job> job);
  // Returns a completed job, or null after `timeout`. Jobs written off are not returned.
  [[nodiscard]] std::shared_ptr<Job> wait(std::chrono::milliseconds timeout);
  // Returns a job that has run for longer than `limit`, or null; it counts as written off from then
  // on and its cancellation is requested.
  [[nodiscard]] std::shared_ptr<Job> write_off(Clock::duration limit);
  // Whether more jobs were written off than spares exist, so that some of the workers are gone.
  [[nodiscard]] bool crippled() const { return written_off_ > kSpareWorkers; }
  // Drops waiting jobs and asks running ones to stop.
  void cancel_all();

 private:
  struct Running {
    std::shared_ptr<Job> job;
    Clock::time_point started;
    bool written_off = false;
  };

  void dispatch();

  int workers_;
  int written_off_ = 0;  // still running
  std::deque<std::shared_ptr<Job>> waiting_;
  std::deque<Running> running_;
  tbb::global_control parallelism_;
  tbb::task_arena arena_;

  std::mutex mutex_;  // guards completed_, the only thing workers touch
  std::condition_variable completion_;
  std::deque<std::shared_ptr<Job>> completed_;
};

}  // namespace regraph
