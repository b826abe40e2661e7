// Compiled instead of all others where libnats' headers are not there.
#include "fleet/nats/nats_broker.h"

namespace regraph::fleet {

bool nats_is_built_in() {
  return false;
}

Result<std::unique_ptr<Broker>> connect_nats(const NatsOptions& /*options*/) {
  return fail(ErrorCode::unsupported,
              "this build cannot speak to a NATS server: it was made without libnats' headers "
              "(Debian: libnats-dev)");
}

}  // namespace regraph::fleet
