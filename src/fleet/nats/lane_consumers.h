// Which lanes' consumers are known to be on the server.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "fleet/nats/nats_session.h"
#include "fleet/nats/server_setup.h"

#include <memory>
#include <mutex>
#include <set>
#include <string>

namespace regraph::fleet {

// Thread-safe.
class LaneConsumers {
 public:
  explicit LaneConsumers(const ServerSetup& setup) : setup_(setup) {}

  // Makes the lane's consumer, once a session: the server may have lost it with the last one.
  // Errors: io, cancelled.
  [[nodiscard]] Status ensure(const std::shared_ptr<NatsSession>& session, const std::string& lane,
                              const Cancellation& cancellation);
  // It is gone.
  void forget(const std::string& lane);

 private:
  const ServerSetup& setup_;
  std::mutex mutex_;
  std::weak_ptr<NatsSession> session_;
  std::set<std::string> known_;  // to this session
};

}  // namespace regraph::fleet
