#include "fleet/nats/lane_consumers.h"

namespace regraph::fleet {

Status LaneConsumers::ensure(const std::shared_ptr<NatsSession>& session, const std::string& lane,
                             const Cancellation& cancellation) {
  {
    const std::lock_guard lock(mutex_);
    if (session_.lock() != session) {
      session_ = session;
      known_.clear();
    }
    if (known_.contains(lane)) return {};
  }
  // Two at once do no harm.
  if (Status made = setup_.ensure_lane(*session, lane, cancellation); !made) return made;
  const std::lock_guard lock(mutex_);
  if (session_.lock() == session) known_.insert(lane);
  return {};
}

void LaneConsumers::forget(const std::string& lane) {
  const std::lock_guard lock(mutex_);
  known_.erase(lane);
}

}  // namespace regraph::fleet
