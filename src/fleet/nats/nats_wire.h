// Messages as libnats has them, and as plain data.
#pragma once

#include "base/result.h"
#include "fleet/nats/nats_api.h"
#include "fleet/nats/nats_message.h"

namespace regraph::fleet {

// Destroys `message`.
[[nodiscard]] Message read_message(const NatsApi& api, natsMsg* message);

// Whoever gets it destroys it. Errors: resource (out of memory).
[[nodiscard]] Result<natsMsg*> make_message(const NatsApi& api, const Outgoing& outgoing);

}  // namespace regraph::fleet
