#include "fleet/nats/lane_sweeper.h"

#include "fleet/nats/jetstream.h"
#include "fleet/nats/subjects.h"

#include <fmt/format.h>

#include <algorithm>

namespace regraph::fleet {
namespace {

Result<ApiAnswer> consumer_of(NatsSession& session, const std::string& lane,
                              const Cancellation& cancellation) {
  return ask_api(session, fmt::format("CONSUMER.INFO.{}.{}", kJobStream, lane_token(lane)), nullptr,
                 cancellation);
}

// Whether anything went.
Result<bool> purge(NatsSession& session, const nlohmann::json& what,
                   const Cancellation& cancellation) {
  const auto purged =
      ask_api(session, fmt::format("STREAM.PURGE.{}", kJobStream), what, cancellation);
  if (!purged) return purged.error();
  if (purged->refusal != ApiRefusal::none) return refused_by_server("take jobs away", *purged);
  return number_in(purged->content, "purged") > 0;
}

}  // namespace

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
  const auto consumer = consumer_of(session, lane, cancellation);
  if (!consumer) return consumer.error();
  // None yet: then nothing was ever handed out.
  if (consumer->refusal != ApiRefusal::none) return false;
  // All up to there is acknowledged; the stream is to have none of that any more. And all that was
  // handed out, where nothing of it is under way.
  std::int64_t behind = number_in(object_in(consumer->content, "ack_floor"), "stream_seq");
  if (number_in(consumer->content, "num_ack_pending", 1) == 0) {
    behind = std::max(behind, number_in(object_in(consumer->content, "delivered"), "stream_seq"));
  }
  if (behind <= 0) return false;
  return purge(session, {{"filter", lane_subjects(lane)}, {"seq", behind + 1}}, cancellation);
}

Result<bool> LaneSweeper::remove(NatsSession& session, const Job& job,
                                 const Cancellation& cancellation) {
  const auto consumer = consumer_of(session, job.lane, cancellation);
  if (!consumer) return consumer.error();
  const bool all_handed_out =
      consumer->refusal == ApiRefusal::none && number_in(consumer->content, "num_pending", 1) == 0;
  if (!all_handed_out) return false;
  return purge(session, {{"filter", job_subject(job.lane, job.id)}}, cancellation);
}

}  // namespace regraph::fleet
