#include "fleet/nats/nats_wire.h"

#include "fleet/nats/printable.h"

#include <charconv>

namespace regraph::fleet {
namespace {

std::string header_of(const NatsApi& api, natsMsg* message, const char* name) {
  const char* value = nullptr;
  if (api.get_header(message, name, &value) != NATS_OK || value == nullptr) return "";
  return value;
}

template <typename Number>
Number parsed(const std::string& text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

}  // namespace

Message read_message(const NatsApi& api, natsMsg* message) {
  Message read;
  read.subject = api.message_subject(message);
  if (const char* const reply = api.message_reply(message)) read.reply = reply;
  const int size = api.message_size(message);
  if (size > 0) read.data.assign(api.message_data(message), static_cast<std::size_t>(size));
  read.status = parsed<int>(header_of(api, message, "Status"));
  read.description = printable(header_of(api, message, "Description"));
  read.sequence = parsed<std::uint64_t>(header_of(api, message, "Nats-Sequence"));
  read.time = header_of(api, message, "Nats-Time-Stamp");
  read.writer = header_of(api, message, kWriterHeader);
  read.operation = header_of(api, message, "KV-Operation");
  api.message_destroy(message);
  return read;
}

Result<natsMsg*> make_message(const NatsApi& api, const Outgoing& outgoing) {
  const std::string subject(outgoing.subject);
  const std::string reply(outgoing.reply);
  natsMsg* message = nullptr;
  natsStatus status =
      api.message_create(&message, subject.c_str(), reply.empty() ? nullptr : reply.c_str(),
                         outgoing.data.data(), static_cast<int>(outgoing.data.size()));
  for (const auto& [name, value] : outgoing.headers)
    if (status == NATS_OK) status = api.set_header(message, name, value.c_str());
  if (status == NATS_OK) return message;
  if (message != nullptr) api.message_destroy(message);
  return fail(ErrorCode::resource,
              std::string("no message can be made: ") + api.status_text(status));
}

}  // namespace regraph::fleet
