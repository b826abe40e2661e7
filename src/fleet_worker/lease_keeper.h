// Keeps a lease alive while somebody works on its job.
#pragma once

#include "fleet/queue/job_source.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace regraph::fleet {

// Extends the lease three times as often as it would run out, from construction to destruction;
// meanwhile nobody else may use it.
class LeaseKeeper {
 public:
  explicit LeaseKeeper(Lease& lease) : lease_(lease), thread_([this] { keep(); }) {}
  ~LeaseKeeper() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  // Whether so long passed between two extensions that the lease may have run out: this process, or
  // the machine, stood still.
  [[nodiscard]] bool stood_still() const;

  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  void keep();

  Lease& lease_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool over_ = false;
  Clock::time_point extended_ = Clock::now();
  bool stood_still_ = false;
  std::thread thread_;
};

}  // namespace regraph::fleet
