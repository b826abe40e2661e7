#include "fleet/nats/server_setup.h"

#include "fleet/nats/jetstream.h"
#include "fleet/nats/printable.h"
#include "fleet/nats/subjects.h"
#include "fleet/queue/notice_board.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace regraph::fleet {
namespace {

using nlohmann::json;

constexpr double kDaySeconds = 86400.0;
constexpr double kJobDays = 7.0;
constexpr double kBlobDays = 30.0;
constexpr double kFailureDays = 7.0;
// Workers that may wait for a job of one lane at once, and jobs that may be under way.
constexpr int kMostWaiting = 20000;
constexpr int kMostUnderWay = 100000;

std::int64_t nanoseconds(double seconds) {
  // The server takes none below a tenth of a second, and counts in 63 bits.
  return static_cast<std::int64_t>(std::clamp(seconds, 0.1, 3e9) * 1e9);
}

json stream_of_jobs() {
  return {{"name", kJobStream},
          {"subjects", {"regraph.jobs.>"}},
          {"retention", "workqueue"},
          {"storage", "file"},
          {"max_age", nanoseconds(kJobDays * kDaySeconds)},
          {"max_msgs_per_subject", 1},
          {"discard", "new"},
          {"discard_new_per_subject", true},
          {"num_replicas", 1}};
}

// As other programs make a bucket with one value a key.
json stream_of_bucket(const std::string& bucket, double life_seconds, const char* storage) {
  // Duplicates cannot be remembered for longer than messages.
  const double window = std::min(120.0, life_seconds);
  return {{"name", "KV_" + bucket},
          {"subjects", {"$KV." + bucket + ".>"}},
          {"retention", "limits"},
          {"storage", storage},
          {"max_age", nanoseconds(life_seconds)},
          {"max_msgs_per_subject", 1},
          {"discard", "new"},
          {"duplicate_window", nanoseconds(window)},
          {"allow_rollup_hdrs", true},
          {"deny_delete", true},
          {"allow_direct", true},
          {"num_replicas", 1}};
}

Error unsupported_server(const std::string& why) {
  return fail(ErrorCode::unsupported, "the NATS server will not do: " + why);
}

// Whether a stream, as the server has it, does what is asked of ours.
Status check_stream(const json& wanted, const json& config) {
  const std::string name = text_in(wanted, "name");
  if (text_in(config, "retention") != text_in(wanted, "retention"))
    return unsupported_server(
        fmt::format("its stream {} keeps messages by '{}', not by '{}': it "
                    "is another program's",
                    name, printable(text_in(config, "retention")), text_in(wanted, "retention")));
  for (const char* const flag : {"discard_new_per_subject", "allow_direct"})
    if (flag_in(wanted, flag) && !flag_in(config, flag))
      return unsupported_server(
          fmt::format("its stream {} has no '{}': it is older than 2.9.2, "
                      "or somebody else made the stream",
                      name, flag));
  return {};
}

Status check_creation(NatsSession& session, const json& wanted, const Message& message,
                      const Cancellation& cancellation) {
  if (message.status != 0)
    return unsupported_server("it has no JetStream; start it with: nats-server -js -sd FOLDER");
  const auto answer = read_answer(message);
  if (!answer) return answer.error();
  const std::string name = text_in(wanted, "name");
  switch (answer->refusal) {
    case ApiRefusal::none:
      return check_stream(wanted, object_in(answer->content, "config"));
    case ApiRefusal::stream_name_in_use: {
      const auto info = ask_api(session, "STREAM.INFO." + name, nullptr, cancellation);
      if (!info) return info.error();
      if (info->refusal != ApiRefusal::none) return refused_by_server("show " + name, *info);
      return check_stream(wanted, object_in(info->content, "config"));
    }
    case ApiRefusal::jetstream_not_enabled:
    case ApiRefusal::jetstream_not_enabled_for_account:
    case ApiRefusal::subjects_overlap:
      return unsupported_server(fmt::format("{}: {}", name, answer->description));
    default:
      return refused_by_server("make " + name, *answer);
  }
}

}  // namespace

Status ServerSetup::ensure_streams(NatsSession& session, const Cancellation& cancellation) const {
  const std::vector<json> wanted = {
      stream_of_jobs(),
      stream_of_bucket(kResultBucket, result_days_ * kDaySeconds, "file"),
      stream_of_bucket(kBlobBucket, kBlobDays * kDaySeconds, "file"),
      stream_of_bucket(kWorkerBucket, kPresenceSeconds, "memory"),
      stream_of_bucket(kFailureBucket, kFailureDays * kDaySeconds, "file"),
  };
  // Making what is there with the same configuration is no error. All at once: the server may be
  // far away.
  std::vector<ReplyDesk::Ticket> tickets;
  for (const json& stream : wanted) {
    const std::string subject = "$JS.API.STREAM.CREATE." + text_in(stream, "name");
    const std::string data = stream.dump();
    auto ticket = session.begin({.subject = subject, .data = data, .reply = {}, .headers = {}});
    if (!ticket) return ticket.error();
    tickets.push_back(*std::move(ticket));
  }
  for (std::size_t index = 0; index < wanted.size(); ++index) {
    const auto message = tickets[index].wait(kAnswerSeconds, cancellation);
    if (!message) return message.error();
    Status good = check_creation(session, wanted[index], *message, cancellation);
    if (!good) return good;
  }
  return {};
}

Status ServerSetup::ensure_lane(NatsSession& session, const std::string& lane,
                                const Cancellation& cancellation) const {
  const std::string name = lane_token(lane);
  const json body = {{"stream_name", kJobStream},
                     {"config",
                      {{"durable_name", name},
                       {"filter_subject", lane_subjects(lane)},
                       {"deliver_policy", "all"},
                       {"replay_policy", "instant"},
                       {"ack_policy", "explicit"},
                       {"ack_wait", nanoseconds(lease_seconds_)},
                       {"max_deliver", -1},
                       {"max_ack_pending", kMostUnderWay},
                       {"max_waiting", kMostWaiting},
                       {"inactive_threshold", nanoseconds(kDaySeconds)}}}};
  const std::string consumer = fmt::format("{}.{}", kJobStream, name);
  const auto answer = ask_api(session, "CONSUMER.DURABLE.CREATE." + consumer, body, cancellation);
  if (!answer) return answer.error();
  if (answer->refusal == ApiRefusal::none) return {};
  // Made by another version, with what cannot be changed: as good.
  const auto info = ask_api(session, "CONSUMER.INFO." + consumer, nullptr, cancellation);
  if (!info) return info.error();
  if (info->refusal == ApiRefusal::none &&
      text_in(object_in(info->content, "config"), "filter_subject") == lane_subjects(lane))
    return {};
  return refused_by_server("make the consumer of lane " + lane, *answer);
}

}  // namespace regraph::fleet
