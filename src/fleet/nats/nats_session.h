// One connection to the server, from its opening to its loss; then another takes its place
// (nats_connection.h).
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "fleet/nats/nats_broker.h"
#include "fleet/nats/nats_message.h"
#include "fleet/nats/reply_desk.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace regraph::fleet {

struct NatsApi;

// Thread-safe. Whoever has it keeps it; when the connection is lost all its calls fail at once.
class NatsSession : public std::enable_shared_from_this<NatsSession> {
 public:
  // Called from one thread of libnats for all sessions: must be quick. Not under any lock.
  using Hear = std::function<void(Message)>;

  // A subject that is listened to, as long as this lives.
  class Listening {
   public:
    struct Handle;
    explicit Listening(std::unique_ptr<Handle> handle);
    ~Listening();
    Listening(const Listening&) = delete;
    Listening& operator=(const Listening&) = delete;
    // Hears what the server has sent already, and no more. Does not wait for it.
    void drain();

   private:
    std::unique_ptr<Handle> handle_;
  };

  // Connects; waits for a few seconds. Errors: as connect_nats.
  [[nodiscard]] static Result<std::shared_ptr<NatsSession>> open(
      const std::shared_ptr<const NatsApi>& api, const NatsOptions& options);
  explicit NatsSession(std::shared_ptr<const NatsApi> api);
  ~NatsSession();
  NatsSession(const NatsSession&) = delete;
  NatsSession& operator=(const NatsSession&) = delete;

  [[nodiscard]] bool alive() const;
  // What the server last complained of, e.g. of a subject that is closed to this user. Often empty.
  [[nodiscard]] std::string complaint() const;
  // Data that fit into one message.
  [[nodiscard]] std::size_t largest_data() const;

  // A subject on which nobody else listens, ending in '.': what follows is the caller's.
  [[nodiscard]] std::string new_inbox();
  // Errors: io.
  [[nodiscard]] Result<std::unique_ptr<Listening>> listen(const std::string& subject, Hear hear);

  // Sends and does not wait. Errors: io, resource (larger than largest_data()).
  [[nodiscard]] Status publish(const Outgoing& outgoing);
  // Sends with an inbox of its own as the place for the answer. The ticket must not outlive the
  // session.
  [[nodiscard]] Result<ReplyDesk::Ticket> begin(Outgoing outgoing);
  // Sends and waits. Errors: those of publish; io (no answer in time), cancelled.
  [[nodiscard]] Result<Message> request(const Outgoing& outgoing, double seconds,
                                        const Cancellation& cancellation);

 private:
  struct State;
  // Frees subscriptions that have drained.
  void free_drained();

  std::shared_ptr<State> state_;
  std::unique_ptr<Listening> replies_;
};

}  // namespace regraph::fleet
