// Those who ask and those who do, for tests of brokers.
#pragma once

#include "base/cancellation.h"
#include "base/hash.h"
#include "fleet/queue/broker.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace regraph::fleet {

inline const Cancellation kNever;

inline Job job_of(const std::string& payload, const std::string& lane = "predict-0.1.0-3f2a9c") {
  return {.lane = lane, .id = hash_text(lane + "/" + payload), .payload = payload};
}

inline std::unique_ptr<Lease> take_one(JobSource& source, const std::string& lane,
                                       double seconds = 5.0) {
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

inline void expect_first(Lease& lease, std::string_view result, bool first = true) {
  const auto written = lease.finish(result, kNever);
  ASSERT_TRUE(written.ok()) << written.error().message;
  EXPECT_EQ(*written, first);
}

}  // namespace regraph::fleet
