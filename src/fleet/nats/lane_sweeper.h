// Puts a lane right whose consumer will never hand out what is in it.
//
// A server of 2.9 that was killed may have on its disk what its consumer was up to, but neither
// that a message was removed, nor that it was under way, nor how many there were: messages are
// there, behind all that the consumer will ever look at, and keep their jobs from being queued once
// more.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "fleet/nats/nats_session.h"
#include "fleet/nats/server_setup.h"
#include "fleet/queue/job.h"

#include <chrono>
#include <map>
#include <mutex>
#include <string>

namespace regraph::fleet {

// Thread-safe.
class LaneSweeper {
 public:
  explicit LaneSweeper(const ServerSetup& setup) : setup_(setup) {}

  // Looks after the lane, unless that was done within the last `seconds`. Messages that were
  // acknowledged go; a consumer that is past the others is made anew and begins with the first. At
  // worst a job is done twice. Whether anything went, so that its job can be queued. Errors: io,
  // cancelled.
  [[nodiscard]] Result<bool> sweep(NatsSession& session, const std::string& lane, double seconds,
                                   const Cancellation& cancellation);

  // Removes a job for which nobody has come for far too long, though none waits. It may be under
  // way: then it is done twice. Errors: io, cancelled.
  [[nodiscard]] static Result<bool> remove_lost(NatsSession& session, const Job& job,
                                                const Cancellation& cancellation);
  // Removes a job, whoever has it. Whether it was there. Errors: io, cancelled.
  [[nodiscard]] static Result<bool> remove(NatsSession& session, const Job& job,
                                           const Cancellation& cancellation);

 private:
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] bool is_due(const std::string& lane, double seconds);

  const ServerSetup& setup_;
  std::mutex mutex_;
  std::map<std::string, Clock::time_point> swept_;
};

}  // namespace regraph::fleet
