// What is needed on the server: streams, buckets and a consumer a lane.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "fleet/nats/nats_session.h"

#include <string>

namespace regraph::fleet {

class ServerSetup {
 public:
  // How long a job is somebody's, and how long results are kept.
  ServerSetup(double lease_seconds, double result_days)
      : lease_seconds_(lease_seconds), result_days_(result_days) {}

  // Makes the streams and buckets that are not there; those that are there are used as they are.
  // Cheap when all are. Errors: unsupported (no JetStream, an old server, a stream of that name
  // that is something else), io, cancelled.
  [[nodiscard]] Status ensure_streams(NatsSession& session, const Cancellation& cancellation) const;

  // The consumer that hands out the lane's jobs. Errors: io, cancelled.
  [[nodiscard]] Status ensure_lane(NatsSession& session, const std::string& lane,
                                   const Cancellation& cancellation) const;

 private:
  double lease_seconds_;
  double result_days_;
};

}  // namespace regraph::fleet
