#include "search/worker_pool.h"

#include <algorithm>
#include <utility>

namespace regraph {

WorkerPool::WorkerPool(int workers, int processors)
    : workers_(std::max(workers, 1)), processors_(processors) {}

WorkerPool::~WorkerPool() {
  finish();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    over_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_)
    thread.join();
}

void WorkerPool::submit(std::shared_ptr<Job> job, Completion done) {
  waiting_.push_back({std::move(job), std::move(done), false, {}, false});
  dispatch();
}

bool WorkerPool::start_ahead(std::shared_ptr<Job> job, Completion done) {
  if (idle() <= 0) return false;
  start({std::move(job), std::move(done), true, {}, false});
  return true;
}

void WorkerPool::dispatch() {
  while (!waiting_.empty() && submitted_ < workers_ + std::min(written_off_, kSpareWorkers)) {
    Task task = std::move(waiting_.front());
    waiting_.pop_front();
    ++submitted_;
    start(std::move(task));
  }
}

void WorkerPool::start(Task task) {
  task.started = Clock::now();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    starting_.push_back(task.job);
    if (starting_.size() > resting_) threads_.emplace_back([this] { work(); });
  }
  wake_.notify_one();
  running_.push_back(std::move(task));
}

void WorkerPool::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    ++resting_;
    wake_.wait(lock, [&] { return over_ || !starting_.empty(); });
    --resting_;
    if (starting_.empty()) return;
    std::shared_ptr<Job> job = std::move(starting_.front());
    starting_.pop_front();
    lock.unlock();
    const auto started = Clock::now();
    Ending ending = Ending::finished;
    try {
      job->run();
    } catch (...) {
      ending = Ending::threw;
    }
    job->seconds = std::chrono::duration<double>(Clock::now() - started).count();
    lock.lock();
    ended_.push_back({std::move(job), ending});
    completion_.notify_one();
  }
}

bool WorkerPool::wait(std::chrono::milliseconds timeout) {
  const auto give_up = Clock::now() + timeout;
  for (;;) {
    Ended ended;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      if (!completion_.wait_until(lock, give_up, [&] { return !ended_.empty(); })) return false;
      ended = std::move(ended_.front());
      ended_.pop_front();
    }
    const auto entry = std::ranges::find(running_, ended.job, &Task::job);
    const Task task = std::move(*entry);
    running_.erase(entry);
    busy_seconds_ += task.job->seconds;
    if (task.ahead) {
      ahead_seconds_ += task.job->seconds;
    } else {
      --submitted_;
      if (task.written_off) --written_off_;
      dispatch();
    }
    if (!task.done) continue;
    task.done(ended.ending);
    return true;
  }
}

void WorkerPool::write_off(Clock::duration limit) {
  const auto now = Clock::now();
  std::vector<Completion> lost;
  for (Task& task : running_) {
    if (task.written_off || now - task.started <= limit) continue;
    task.written_off = true;
    task.job->cancellation.request();
    if (!task.ahead) ++written_off_;
    if (task.done) lost.push_back(std::exchange(task.done, nullptr));
  }
  dispatch();
  // Last: they may submit more.
  for (const Completion& done : lost)
    done(Ending::lost);
}

void WorkerPool::drop_submitted() {
  waiting_.clear();
  for (Task& task : running_) {
    if (task.ahead) continue;
    task.job->cancellation.request();
    task.done = nullptr;
  }
}

void WorkerPool::finish() {
  waiting_.clear();
  for (Task& task : running_) {
    task.job->cancellation.request();
    task.done = nullptr;
  }
  while (!running_.empty())
    static_cast<void>(wait(std::chrono::milliseconds(100)));
}

}  // namespace regraph
