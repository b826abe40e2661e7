// Where the answers to requests are called for.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "fleet/nats/nats_message.h"

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace regraph::fleet {

// Thread-safe.
class ReplyDesk {
 public:
  // A request under way. Forgotten when it goes.
  class Ticket {
   public:
    Ticket(ReplyDesk& desk, std::uint64_t number) : desk_(&desk), number_(number) {}
    ~Ticket();
    Ticket(Ticket&& other) noexcept : desk_(other.desk_), number_(other.number_) {
      other.desk_ = nullptr;
    }
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;
    Ticket& operator=(Ticket&&) = delete;

    [[nodiscard]] std::uint64_t number() const { return number_; }
    // Errors: io (no answer within `seconds`, or none will come any more), cancelled.
    [[nodiscard]] Result<Message> wait(double seconds, const Cancellation& cancellation);

   private:
    ReplyDesk* desk_;
    std::uint64_t number_;
  };

  [[nodiscard]] Ticket open();
  // Nothing where nobody waits for it.
  void hand_over(std::uint64_t number, Message message);
  // No answer comes any more.
  void close();

 private:
  struct Slot {
    std::condition_variable come;
    std::optional<Message> message;
  };

  std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Slot>> slots_;
  std::uint64_t last_ = 0;
  bool closed_ = false;
};

}  // namespace regraph::fleet
