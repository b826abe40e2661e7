// Wakes those who wait for results.
#pragma once

#include "base/cancellation.h"
#include "base/hash.h"
#include "base/result.h"
#include "fleet/nats/nats_connection.h"
#include "fleet/nats/nats_session.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace regraph::fleet {

// One subscription a session, for all who wait. It hears of every result in the fleet, hence of no
// more than the ids: a message says that a result is there, and everybody reads their own from
// where the first writer put it. Messages get lost; whoever waits must also look by themselves.
// Thread-safe.
class ResultWatch {
 private:
  struct Desk;

 public:
  // Somebody who waits for one result.
  class Waiter {
   public:
    Waiter(std::shared_ptr<Desk> desk, const Hash128& id);
    ~Waiter();
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;
    // Until something was said of the result since the last call, `seconds` are over, `session` is
    // no longer the connection's, or cancelled.
    void wait(double seconds, const NatsConnection& connection, const NatsSession* session,
              const Cancellation& cancellation);

   private:
    std::shared_ptr<Desk> desk_;
    Hash128 id_;
    std::condition_variable woken_;
    bool said_ = false;
    friend class ResultWatch;
  };

  ResultWatch();
  ~ResultWatch();

  [[nodiscard]] Waiter expect(const Hash128& id) { return {desk_, id}; }
  // Listens on this session, where it does not yet. Errors: io.
  [[nodiscard]] Status attend(const std::shared_ptr<NatsSession>& session);

 private:
  std::shared_ptr<Desk> desk_;
  std::mutex mutex_;
  const NatsSession* attended_ = nullptr;  // which `listening_` keeps
  std::unique_ptr<NatsSession::Listening> listening_;
};

}  // namespace regraph::fleet
