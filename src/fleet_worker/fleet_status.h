// Who is there, what they do and what waits.
#pragma once

#include "base/result.h"
#include "fleet/presence.h"
#include "fleet/queue/broker.h"
#include "fleet_worker/failure_notice.h"

#include <map>
#include <string>
#include <vector>

namespace regraph::fleet {

struct FleetStatus {
  std::vector<WorkerPresence> workers;            // by name
  std::map<std::string, LaneState> lanes;         // of these workers and of failures
  std::map<std::string, FailureNotice> failures;  // by the job's id
  std::size_t unreadable = 0;                     // notices that are none
};

// Reads the boards, a thousand workers and two hundred failures at most. Errors: io.
[[nodiscard]] Result<FleetStatus> read_status(Broker& broker);

// Tables for people, JSON, and Prometheus' text format (version 0.0.4).
[[nodiscard]] std::string status_text(const FleetStatus& status);
[[nodiscard]] std::string status_json(const FleetStatus& status);
[[nodiscard]] std::string status_metrics(const FleetStatus& status);

}  // namespace regraph::fleet
