// Takes jobs off the queue that the server will never hand out.
//
// A server of 2.9 that was killed may have what a consumer acknowledged on its disk, but not that
// the message went with it: the message is there again, below all that its consumer will look at,
// and keeps its job from being queued once more.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "fleet/nats/nats_session.h"

#include <chrono>
#include <map>
#include <mutex>
#include <string>

namespace regraph::fleet {

// Thread-safe.
class LaneSweeper {
 public:
  // Removes what the lane's consumer has behind it, unless that was done within the last `seconds`.
  // Nothing that is waiting or under way goes: the consumer counts these as ahead. Whether anything
  // went. Errors: io, cancelled.
  [[nodiscard]] Result<bool> sweep(NatsSession& session, const std::string& lane, double seconds,
                                   const Cancellation& cancellation);

 private:
  using Clock = std::chrono::steady_clock;
  std::mutex mutex_;
  std::map<std::string, Clock::time_point> swept_;
};

}  // namespace regraph::fleet
