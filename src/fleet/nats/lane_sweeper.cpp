#include "fleet/nats/lane_sweeper.h"

#include "fleet/nats/jetstream.h"
#include "fleet/nats/subjects.h"

#include <fmt/format.h>

namespace regraph::fleet {

Result<bool> LaneSweeper::sweep(NatsSession& session, const std::string& lane, double seconds,
                                const Cancellation& cancellation) {
  {
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    const auto known = swept_.find(lane);
    if (known != swept_.end() && now - known->second < std::chrono::duration<double>(seconds))
      return false;
    swept_[lane] = now;
  }
  const auto consumer =
      ask_api(session, fmt::format("CONSUMER.INFO.{}.{}", kJobStream, lane_token(lane)), nullptr,
              cancellation);
  if (!consumer) return consumer.error();
  // None yet: then nothing was ever handed out.
  if (consumer->refusal != ApiRefusal::none) return false;
  // All up to it is acknowledged; the stream is to have none of that any more.
  const std::int64_t behind = number_in(object_in(consumer->content, "ack_floor"), "stream_seq");
  if (behind <= 0) return false;
  const auto purged = ask_api(session, fmt::format("STREAM.PURGE.{}", kJobStream),
                              {{"filter", lane_subjects(lane)}, {"seq", behind + 1}}, cancellation);
  if (!purged) return purged.error();
  if (purged->refusal != ApiRefusal::none) return refused_by_server("sweep a lane", *purged);
  return number_in(purged->content, "purged") > 0;
}

}  // namespace regraph::fleet
