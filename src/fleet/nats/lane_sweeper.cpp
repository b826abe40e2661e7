#include "fleet/nats/lane_sweeper.h"

#include "fleet/nats/jetstream.h"
#include "fleet/nats/subjects.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>
#include <utility>

namespace regraph::fleet {
namespace {

using nlohmann::json;

constexpr int kLooks = 3;
constexpr std::chrono::milliseconds kBetweenLooks{150};

std::string consumer_name(const std::string& lane) {
  return fmt::format("{}.{}", kJobStream, lane_token(lane));
}

Result<ApiAnswer> consumer_of(NatsSession& session, const std::string& lane,
                              const Cancellation& cancellation) {
  return ask_api(session, "CONSUMER.INFO." + consumer_name(lane), nullptr, cancellation);
}

// The stream's state, with the subjects of the lane's messages.
Result<json> messages_of(NatsSession& session, const std::string& lane,
                         const Cancellation& cancellation) {
  const auto info = ask_api(session, fmt::format("STREAM.INFO.{}", kJobStream),
                            {{"subjects_filter", lane_subjects(lane)}}, cancellation);
  if (!info) return info.error();
  if (info->refusal != ApiRefusal::none) return refused_by_server("show a lane", *info);
  return object_in(info->content, "state");
}

// Of the subjects there were, those that are in the later state, too.
json stayed(const json& subjects, const json& state) {
  const json& now = object_in(state, "subjects");
  json both = json::object();
  for (const auto& [subject, count] : subjects.items())
    if (now.contains(subject)) both[subject] = count;
  return both;
}

// Whether the consumer neither holds a message nor will ever come to one.
bool has_none(const json& consumer) {
  return number_in(consumer, "num_pending", 1) == 0 &&
         number_in(consumer, "num_ack_pending", 1) == 0;
}

// Whether one of these messages is there for good although the consumer is past it. One that was
// acknowledged goes a moment later, so that one look does not show it.
Result<bool> stays_behind(NatsSession& session, const std::string& lane, json subjects,
                          const Cancellation& cancellation) {
  for (int look = 0; look < kLooks && !subjects.empty(); ++look) {
    std::this_thread::sleep_for(kBetweenLooks);
    const auto consumer = consumer_of(session, lane, cancellation);
    if (!consumer) return consumer.error();
    if (consumer->refusal != ApiRefusal::none || !has_none(consumer->content)) return false;
    const auto now = messages_of(session, lane, cancellation);
    if (!now) return now.error();
    subjects = stayed(subjects, *now);
  }
  return !subjects.empty();
}

// Whether anything went.
Result<bool> purge(NatsSession& session, const json& what, const Cancellation& cancellation) {
  const auto purged =
      ask_api(session, fmt::format("STREAM.PURGE.{}", kJobStream), what, cancellation);
  if (!purged) return purged.error();
  if (purged->refusal != ApiRefusal::none) return refused_by_server("take jobs away", *purged);
  return number_in(purged->content, "purged") > 0;
}

}  // namespace

bool LaneSweeper::is_due(const std::string& lane, double seconds) {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  const auto known = swept_.find(lane);
  if (known != swept_.end() && now - known->second < std::chrono::duration<double>(seconds))
    return false;
  swept_[lane] = now;
  return true;
}

Result<bool> LaneSweeper::sweep(NatsSession& session, const std::string& lane, double seconds,
                                const Cancellation& cancellation) {
  if (!is_due(lane, seconds)) return false;
  const auto before = messages_of(session, lane, cancellation);
  if (!before) return before.error();
  if (object_in(*before, "subjects").empty()) return false;
  const auto consumer = consumer_of(session, lane, cancellation);
  if (!consumer) return consumer.error();
  // None yet: then nothing was ever handed out.
  if (consumer->refusal != ApiRefusal::none) return false;
  const auto after = messages_of(session, lane, cancellation);
  if (!after) return after.error();
  const std::int64_t last = number_in(*after, "last_seq");
  const std::int64_t delivered = number_in(object_in(consumer->content, "delivered"), "stream_seq");
  Result<bool> passed = delivered > last;  // messages that never were
  if (!*passed && has_none(consumer->content))
    passed =
        stays_behind(session, lane, stayed(object_in(*before, "subjects"), *after), cancellation);
  if (!passed) return passed;
  if (*passed) {
    const auto removed =
        ask_api(session, "CONSUMER.DELETE." + consumer_name(lane), nullptr, cancellation);
    if (!removed) return removed.error();
    if (Status made = setup_.ensure_lane(session, lane, cancellation); !made)
      return std::move(made).error();
    return false;
  }
  const std::int64_t behind = number_in(object_in(consumer->content, "ack_floor"), "stream_seq");
  if (behind <= 0) return false;
  return purge(session, {{"filter", lane_subjects(lane)}, {"seq", behind + 1}}, cancellation);
}

Result<bool> LaneSweeper::remove_lost(NatsSession& session, const Job& job,
                                      const Cancellation& cancellation) {
  const auto consumer = consumer_of(session, job.lane, cancellation);
  if (!consumer) return consumer.error();
  const bool all_handed_out =
      consumer->refusal == ApiRefusal::none && number_in(consumer->content, "num_pending", 1) == 0;
  return all_handed_out ? remove(session, job, cancellation) : Result<bool>(false);
}

Result<bool> LaneSweeper::remove(NatsSession& session, const Job& job,
                                 const Cancellation& cancellation) {
  return purge(session, {{"filter", job_subject(job.lane, job.id)}}, cancellation);
}

}  // namespace regraph::fleet
