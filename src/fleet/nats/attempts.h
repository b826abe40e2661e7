// Tries until the server does it.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "fleet/nats/nats_connection.h"
#include "fleet/nats/reporter.h"
#include "fleet/nats/server_setup.h"

#include <chrono>
#include <memory>
#include <mutex>

namespace regraph::fleet {

// What attempts of all callers share. Thread-safe.
class Attempts {
 public:
  // For ever.
  static constexpr double kNoLimit = 1e8;

  Attempts(const NatsConnection& connection, const ServerSetup& setup, Reporter& reporter)
      : connection_(connection), setup_(setup), reporter_(reporter) {}

  // Calls work(session), which returns a Result, until its error is not io, for `seconds`, waiting
  // in between. Errors: work's; io where there is no session; cancelled.
  template <typename Work>
  auto run(double seconds, const Cancellation& cancellation, const Work& work)
      -> decltype(work(std::declval<const std::shared_ptr<NatsSession>&>())) {
    const Clock::time_point end = Clock::now() + span(seconds);
    for (int failures = 0;; ++failures) {
      auto session = connection_.wait(left(end), cancellation);
      if (!session) return session.error();
      auto result = work(*session);
      if (result.ok()) {
        reporter_.over("trouble", "the NATS server does what it is asked again");
        return result;
      }
      if (result.error().code != ErrorCode::io || Clock::now() >= end) return result;
      if (!recover(*session, result.error(), failures, left(end), cancellation))
        return fail(ErrorCode::cancelled, "cancelled");
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  static Clock::duration span(double seconds);
  static double left(Clock::time_point end);
  // After a failure: puts right what may be wrong, and waits, longer each time. False when
  // cancelled.
  bool recover(const std::shared_ptr<NatsSession>& session, const Error& error, int failures,
               double most, const Cancellation& cancellation);

  const NatsConnection& connection_;
  const ServerSetup& setup_;
  Reporter& reporter_;
  std::mutex mutex_;  // of putting right: one at a time
  Clock::time_point put_right_;
};

}  // namespace regraph::fleet
