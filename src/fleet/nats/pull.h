// Asks the consumers of lanes for one job.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "fleet/nats/lane_consumers.h"
#include "fleet/nats/nats_message.h"
#include "fleet/nats/nats_session.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace regraph::fleet {

struct PulledJob {
  std::size_t lane = 0;  // which of those asked for
  Message message;       // its reply is where it is acknowledged
};

// The next job: of the first lane that has one, else whichever comes first within `seconds`. While
// it waits, a request waits with the consumer of each lane, so that a job is here as soon as it is
// there and the server has nothing to do meanwhile. Whatever else those requests bring is given
// back at once. Nothing when there is none, or cancelled. Errors: io.
[[nodiscard]] Result<std::optional<PulledJob>> pull_job(const std::shared_ptr<NatsSession>& session,
                                                        LaneConsumers& consumers,
                                                        std::span<const std::string> lanes,
                                                        double seconds,
                                                        const Cancellation& cancellation);

// What consumers are told of a job, at the place it came with. Errors of publishing do not matter:
// then the lease runs out.
void tell_consumer(NatsSession& session, const std::string& where, std::string_view what);
inline constexpr std::string_view kGiveBack = "-NAK";
inline constexpr std::string_view kStillAtIt = "+WPI";
inline constexpr std::string_view kAcknowledged = "+ACK";
inline constexpr std::string_view kNeverAgain = "+TERM";

}  // namespace regraph::fleet
