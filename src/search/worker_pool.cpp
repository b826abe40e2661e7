#include "search/worker_pool.h"

#include <tbb/info.h>

#include <algorithm>
#include <utility>

namespace regraph {

WorkerPool::WorkerPool(int workers)
    : workers_(std::max(workers, 1)),
      // Jobs mostly wait for compilers and devices, so there may be more of them than cores.
      // Threads are only made when they are needed.
      parallelism_(tbb::global_control::max_allowed_parallelism,
                   static_cast<std::size_t>(
                       std::max(workers_ + kSpareWorkers + 1, tbb::info::default_concurrency()))),
      arena_(workers_ + kSpareWorkers, 0) {}

WorkerPool::~WorkerPool() {
  cancel_all();
  while (!running_.empty()) {
    for (Running& entry : running_)
      entry.written_off = false;
    static_cast<void>(wait(std::chrono::milliseconds(100)));
  }
  // Workers signal under the lock; once it is free the last of them is done with this object.
  const std::lock_guard<std::mutex> lock(mutex_);
}

void WorkerPool::submit(std::shared_ptr<Job> job) {
  waiting_.push_back(std::move(job));
  dispatch();
}

void WorkerPool::dispatch() {
  while (!waiting_.empty() &&
         static_cast<int>(running_.size()) < workers_ + std::min(written_off_, kSpareWorkers)) {
    std::shared_ptr<Job> job = std::move(waiting_.front());
    waiting_.pop_front();
    running_.push_back({job, Clock::now(), false});
    arena_.enqueue([this, job = std::move(job)] {
      try {
        // An arena of its own: parallel algorithms inside the job must not pick up other jobs.
        tbb::task_arena(tbb::info::default_concurrency()).execute([&] { job->run(); });
      } catch (...) {
        job->threw = true;
      }
      const std::lock_guard<std::mutex> lock(mutex_);
      completed_.push_back(job);
      completion_.notify_one();
    });
  }
}

std::shared_ptr<Job> WorkerPool::wait(std::chrono::milliseconds timeout) {
  const auto give_up = Clock::now() + timeout;
  for (;;) {
    std::shared_ptr<Job> job;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      if (!completion_.wait_until(lock, give_up, [&] { return !completed_.empty(); })) {
        return nullptr;
      }
      job = std::move(completed_.front());
      completed_.pop_front();
    }
    const auto entry = std::ranges::find(running_, job, &Running::job);
    const bool written_off = entry->written_off;
    if (written_off) --written_off_;
    running_.erase(entry);
    dispatch();
    if (!written_off) return job;
  }
}

std::shared_ptr<Job> WorkerPool::write_off(Clock::duration limit) {
  const auto now = Clock::now();
  for (Running& entry : running_) {
    if (entry.written_off || now - entry.started <= limit) continue;
    entry.written_off = true;
    ++written_off_;
    entry.job->cancellation.request();
    std::shared_ptr<Job> job = entry.job;
    dispatch();
    return job;
  }
  return nullptr;
}

void WorkerPool::cancel_all() {
  waiting_.clear();
  for (Running& entry : running_)
    entry.job->cancellation.request();
}

}  // namespace regraph
