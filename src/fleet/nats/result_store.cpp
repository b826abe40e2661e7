#include "fleet/nats/result_store.h"

#include "fleet/nats/packing.h"

#include <fmt/format.h>

namespace regraph::fleet {

Result<std::optional<std::string>> ResultStore::find(NatsSession& session, const Hash128& id,
                                                     const Cancellation& cancellation) {
  const std::string key = id.hex();
  const auto entry = bucket_.get(session, key, cancellation);
  if (!entry) return entry.error();
  if (!entry->present) return std::optional<std::string>();
  auto result = unpack(entry->data, kLargestText);
  if (result) return std::optional(*std::move(result));
  reporter_.tell("garbage results", fmt::format("the NATS server's result of job {} cannot be read "
                                                "({}); the job is done again",
                                                key, result.error().message));
  // Up to this one: a good one may be there by now.
  const Status removed = bucket_.remove(session, key, entry->sequence, cancellation);
  if (!removed) return removed.error();
  return std::optional<std::string>();
}

Result<bool> ResultStore::add(NatsSession& session, const Hash128& id, const std::string& packed,
                              const std::string& writer, const Cancellation& cancellation) {
  const std::string key = id.hex();
  std::uint64_t last = 0;
  // Ends when a result is there: each round somebody wrote, or removed what is no result.
  while (true) {
    auto first = bucket_.put_after(session, key, last, packed, writer, cancellation);
    if (!first || *first) return first;
    const auto entry = bucket_.get(session, key, cancellation);
    if (!entry) return entry.error();
    if (entry->present && unpack(entry->data, kLargestText).ok()) return entry->writer == writer;
    last = entry->sequence;
  }
}

void ResultStore::announce(NatsSession& session, const Hash128& id) {
  const std::string subject = done_subject(id);
  (void)session.publish({.subject = subject, .data = {}, .reply = {}, .headers = {}});
}

}  // namespace regraph::fleet
