#include "fleet/nats/nats_lease.h"

#include "fleet/nats/jetstream.h"
#include "fleet/nats/packing.h"
#include "fleet/nats/pull.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>
#include <vector>

namespace regraph::fleet {
namespace {

constexpr double kAcknowledgeSeconds = 10.0;

}  // namespace

// "$JS.ACK.<stream>.<consumer>.<deliveries>.<three numbers>.<pending>", with a domain and an
// account before the stream since 2.8 in clusters, and one more at the end.
int deliveries_in(std::string_view place) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t dot = std::min(place.find('.'), place.size());
    parts.push_back(place.substr(0, dot));
    if (dot == place.size()) break;
    place.remove_prefix(dot + 1);
  }
  const std::size_t index = parts.size() >= 11 ? 6 : 4;
  int deliveries = 0;
  if (index < parts.size())
    (void)std::from_chars(parts[index].data(), parts[index].data() + parts[index].size(),
                          deliveries);
  return std::max(1, deliveries);
}

Status acknowledge(NatsCore& core, const std::string& place, const Cancellation& cancellation) {
  const auto done = [&](const std::shared_ptr<NatsSession>& session) -> Status {
    // Answered with nothing; by nobody where the consumer is gone, and then so is the lease.
    const auto answer =
        session->request({.subject = place, .data = kAcknowledged, .reply = {}, .headers = {}},
                         kAnswerSeconds, cancellation);
    if (!answer) return answer.error();
    return {};
  };
  Status acknowledged = core.attempts->run(kAcknowledgeSeconds, cancellation, done);
  if (!acknowledged && acknowledged.error().code == ErrorCode::cancelled) return acknowledged;
  return {};
}

NatsLease::NatsLease(std::shared_ptr<NatsCore> core, Job job, std::string place, std::string writer)
    : core_(std::move(core)),
      job_(std::move(job)),
      place_(std::move(place)),
      writer_(std::move(writer)),
      deliveries_(deliveries_in(place_)) {}

void NatsLease::tell(std::string_view what) {
  if (const auto session = core_->connection->session()) tell_consumer(*session, place_, what);
}

void NatsLease::extend() {
  tell(kStillAtIt);
}

void NatsLease::give_back(double seconds) {
  const auto nanoseconds = static_cast<std::int64_t>(std::clamp(seconds, 0.0, 1e8) * 1e9);
  if (nanoseconds == 0)
    tell(kGiveBack);
  else
    tell(fmt::format(R"({} {{"delay": {}}})", kGiveBack, nanoseconds));
}

Result<bool> NatsLease::finish(std::string_view result, const Cancellation& cancellation) {
  const auto packed = pack_text(result);
  if (!packed) return packed.error();
  const auto write = [&](const std::shared_ptr<NatsSession>& session) -> Result<bool> {
    auto first = core_->results.add(*session, job_.id, *packed, writer_, cancellation);
    if (first) ResultStore::announce(*session, job_.id);
    return first;
  };
  auto first = core_->attempts->run(Attempts::kNoLimit, cancellation, write);
  // The result is safe, so it does not matter whether the job is still there.
  if (first) (void)acknowledge(*core_, place_, cancellation);
  return first;
}

}  // namespace regraph::fleet
