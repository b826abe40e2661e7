#include "fleet/nats/reply_desk.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace regraph::fleet {
namespace {

// Nobody wakes a waiter whose caller asks to stop.
constexpr std::chrono::milliseconds kLookAtCancellation(40);

}  // namespace

ReplyDesk::Ticket ReplyDesk::open() {
  const std::lock_guard lock(mutex_);
  slots_.emplace(++last_, std::make_unique<Slot>());
  return Ticket(*this, last_);
}

ReplyDesk::Ticket::~Ticket() {
  if (desk_ == nullptr) return;
  const std::lock_guard lock(desk_->mutex_);
  desk_->slots_.erase(number_);
}

Result<Message> ReplyDesk::Ticket::wait(double seconds, const Cancellation& cancellation) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(seconds));
  std::unique_lock lock(desk_->mutex_);
  Slot& slot = *desk_->slots_.at(number_);
  while (!slot.message) {
    const auto now = Clock::now();
    if (desk_->closed_) return fail(ErrorCode::io, "the connection to the NATS server is lost");
    if (cancellation.requested()) return fail(ErrorCode::cancelled, "cancelled");
    if (now >= end) return fail(ErrorCode::io, "the NATS server does not answer");
    slot.come.wait_until(lock, std::min(end, now + kLookAtCancellation));
  }
  return *std::move(slot.message);
}

void ReplyDesk::hand_over(std::uint64_t number, Message message) {
  const std::lock_guard lock(mutex_);
  const auto found = slots_.find(number);
  if (found == slots_.end()) return;
  found->second->message = std::move(message);
  found->second->come.notify_one();
}

void ReplyDesk::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (const auto& [number, slot] : slots_)
    slot->come.notify_one();
}

}  // namespace regraph::fleet
