// Keeps a lease alive while somebody works on its job.
#pragma once

#include "fleet/queue/job_source.h"

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
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;

 private:
  void keep();

  Lease& lease_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace regraph::fleet
