#include "fleet/nats/bucket.h"

#include "fleet/nats/jetstream.h"
#include "fleet/queue/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace regraph::fleet {
namespace {

constexpr int kNoSuchMessage = 404;

}  // namespace

std::string Bucket::subject(std::string_view key) const {
  return fmt::format("$KV.{}.{}", name_, key);
}

Result<ReplyDesk::Ticket> Bucket::begin_get(NatsSession& session, std::string_view key) const {
  const std::string request = fmt::format("$JS.API.DIRECT.GET.KV_{}.{}", name_, subject(key));
  return session.begin({.subject = request, .data = {}, .reply = {}, .headers = {}});
}

Result<Bucket::Entry> Bucket::end_get(ReplyDesk::Ticket& ticket, const Cancellation& cancellation) {
  auto message = ticket.wait(kAnswerSeconds, cancellation);
  if (!message) return message.error();
  if (message->status == kNoSuchMessage) return Entry{};
  if (message->status != 0 || message->sequence == 0)
    return fail(ErrorCode::io, fmt::format("the NATS server does not read a key: {} {}",
                                           message->status, message->description));
  return Entry{.present = message->operation.empty(),
               .sequence = message->sequence,
               .data = std::move(message->data),
               .time = std::move(message->time),
               .writer = std::move(message->writer)};
}

Result<Bucket::Entry> Bucket::get(NatsSession& session, std::string_view key,
                                  const Cancellation& cancellation) const {
  auto ticket = begin_get(session, key);
  if (!ticket) return ticket.error();
  return end_get(*ticket, cancellation);
}

Status Bucket::put(NatsSession& session, std::string_view key, std::string_view data,
                   const Cancellation& cancellation) const {
  const std::string where = subject(key);
  const auto answer =
      store(session, {.subject = where, .data = data, .reply = {}, .headers = {}}, cancellation);
  if (!answer) return answer.error();
  if (answer->refusal != ApiRefusal::none) return refused_by_server("keep a key", *answer);
  return {};
}

Result<bool> Bucket::put_after(NatsSession& session, std::string_view key, std::uint64_t sequence,
                               std::string_view data, const std::string& writer,
                               const Cancellation& cancellation) const {
  const std::string where = subject(key);
  const auto answer =
      store(session,
            {.subject = where,
             .data = data,
             .reply = {},
             .headers = {{"Nats-Expected-Last-Subject-Sequence", std::to_string(sequence)},
                         {kWriterHeader, writer}}},
            cancellation);
  if (!answer) return answer.error();
  // Newer servers have several numbers for it.
  if (answer->refusal == ApiRefusal::wrong_last_sequence ||
      answer->description.starts_with("wrong last sequence"))
    return false;
  if (answer->refusal != ApiRefusal::none) return refused_by_server("keep a key", *answer);
  return true;
}

Status Bucket::remove(NatsSession& session, std::string_view key, std::uint64_t sequence,
                      const Cancellation& cancellation) const {
  nlohmann::json body = {{"filter", subject(key)}};
  if (sequence < std::numeric_limits<std::uint64_t>::max()) body["seq"] = sequence + 1;
  const auto answer = ask_api(session, "STREAM.PURGE.KV_" + name_, body, cancellation);
  if (!answer) return answer.error();
  if (answer->refusal != ApiRefusal::none) return refused_by_server("remove a key", *answer);
  return {};
}

Result<std::vector<std::string>> Bucket::keys(NatsSession& session, std::size_t most,
                                              const Cancellation& cancellation) const {
  const std::string prefix = subject("");
  const nlohmann::json body = {{"subjects_filter", prefix + ">"}};
  const auto answer = ask_api(session, "STREAM.INFO.KV_" + name_, body, cancellation);
  if (!answer) return answer.error();
  if (answer->refusal != ApiRefusal::none) return refused_by_server("list keys", *answer);
  std::vector<std::string> keys;
  for (const auto& [subject, count] :
       object_in(object_in(answer->content, "state"), "subjects").items())
    if (subject.starts_with(prefix) && check_key(subject.substr(prefix.size())))
      keys.push_back(subject.substr(prefix.size()));
  std::sort(keys.begin(), keys.end());
  if (keys.size() > most) keys.resize(most);
  return keys;
}

}  // namespace regraph::fleet
