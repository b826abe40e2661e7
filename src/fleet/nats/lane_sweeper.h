// Takes jobs off the queue that the server will never hand out.
//
// A server of 2.9 that was killed may have on its disk what its consumer was up to, but neither
// that a message was removed nor that it was under way: the message is there, behind all that the
// consumer will ever look at, and keeps its job from being queued once more.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "fleet/nats/nats_session.h"
#include "fleet/queue/job.h"

#include <chrono>
#include <map>
#include <mutex>
#include <string>

namespace regraph::fleet {

// Thread-safe.
class LaneSweeper {
 public:
  // Removes what the lane's consumer has behind it, unless that was done within the last `seconds`.
  // Nothing that waits or is under way goes. Whether anything went. Errors: io, cancelled.
  [[nodiscard]] Result<bool> sweep(NatsSession& session, const std::string& lane, double seconds,
                                   const Cancellation& cancellation);

  // Removes a job for which nobody has come for far too long, though none waits. It may be under
  // way: then it is done twice. Errors: io, cancelled.
  [[nodiscard]] static Result<bool> remove(NatsSession& session, const Job& job,
                                           const Cancellation& cancellation);

 private:
  using Clock = std::chrono::steady_clock;
  std::mutex mutex_;
  std::map<std::string, Clock::time_point> swept_;
};

}  // namespace regraph::fleet
