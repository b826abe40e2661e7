// The connection to the server as it outlives its losses: one session after the other.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "fleet/nats/nats_broker.h"
#include "fleet/nats/nats_session.h"
#include "fleet/nats/reporter.h"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace regraph::fleet {

// Thread-safe. A thread of its own replaces a session that is lost, for ever.
class NatsConnection {
 public:
  // Looks over the server before a new session is used; where that fails it is none.
  using Prepare = std::function<Status(NatsSession&, const Cancellation&)>;

  // The first session is there when it returns. Errors: as connect_nats, and those of `prepare`.
  [[nodiscard]] static Result<std::unique_ptr<NatsConnection>> open(
      std::shared_ptr<const NatsApi> api, const NatsOptions& options, Reporter& reporter,
      Prepare prepare);
  ~NatsConnection();
  NatsConnection(const NatsConnection&) = delete;
  NatsConnection& operator=(const NatsConnection&) = delete;

  // Null where the connection is lost.
  [[nodiscard]] std::shared_ptr<NatsSession> session() const;
  // Waits for one. Errors: io (none within `seconds`), cancelled.
  [[nodiscard]] Result<std::shared_ptr<NatsSession>> wait(double seconds,
                                                          const Cancellation& cancellation) const;

 private:
  NatsConnection(std::shared_ptr<const NatsApi> api, NatsOptions options, Reporter& reporter,
                 Prepare prepare);
  [[nodiscard]] Result<std::shared_ptr<NatsSession>> connect();
  void keep();
  // False when it is time to stop.
  bool sleep(double seconds);

  const std::shared_ptr<const NatsApi> api_;
  const NatsOptions options_;
  Reporter& reporter_;
  const Prepare prepare_;
  mutable std::mutex mutex_;
  mutable std::condition_variable found_;  // a new session
  std::condition_variable stop_;
  Cancellation stopping_;
  std::shared_ptr<NatsSession> session_;
  std::thread keeper_;
};

}  // namespace regraph::fleet
