// A key-value bucket: a stream that keeps one message a key.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "fleet/nats/nats_session.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace regraph::fleet {

class Bucket {
 public:
  struct Entry {
    bool present = false;
    // Of the last message of the key, which may say that it was deleted; 0: there is none.
    std::uint64_t sequence = 0;
    std::string data;
    std::string time;    // when it was written, by the server's clock
    std::string writer;  // as put_after was told
  };

  explicit Bucket(std::string name) : name_(std::move(name)) {}

  // Errors of all: io, cancelled; of writing: resource (too large), too.
  [[nodiscard]] Result<Entry> get(NatsSession& session, std::string_view key,
                                  const Cancellation& cancellation) const;
  // Several at once: get() in two parts.
  [[nodiscard]] Result<ReplyDesk::Ticket> begin_get(NatsSession& session,
                                                    std::string_view key) const;
  [[nodiscard]] static Result<Entry> end_get(ReplyDesk::Ticket& ticket,
                                             const Cancellation& cancellation);

  [[nodiscard]] Status put(NatsSession& session, std::string_view key, std::string_view data,
                           const Cancellation& cancellation) const;
  // Writes where the key's last message has that sequence, 0: where there is none. False: it has
  // another.
  [[nodiscard]] Result<bool> put_after(NatsSession& session, std::string_view key,
                                       std::uint64_t sequence, std::string_view data,
                                       const std::string& writer,
                                       const Cancellation& cancellation) const;
  // Removes what the key has up to that sequence.
  [[nodiscard]] Status remove(NatsSession& session, std::string_view key, std::uint64_t sequence,
                              const Cancellation& cancellation) const;
  // Of keys that are there and that check_key takes, the first `most` in their order.
  [[nodiscard]] Result<std::vector<std::string>> keys(NatsSession& session, std::size_t most,
                                                      const Cancellation& cancellation) const;

 private:
  [[nodiscard]] std::string subject(std::string_view key) const;

  std::string name_;
};

}  // namespace regraph::fleet
