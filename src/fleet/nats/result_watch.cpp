#include "fleet/nats/result_watch.h"

#include "fleet/nats/subjects.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace regraph::fleet {
namespace {

constexpr std::chrono::milliseconds kLookAround(40);

}  // namespace

struct ResultWatch::Desk {
  std::mutex mutex;
  std::unordered_multimap<Hash128, Waiter*> waiters;

  void hear(const Message& message) {
    const auto id = job_of_done(message.subject);
    if (!id) return;
    const std::lock_guard lock(mutex);
    const auto [begin, end] = waiters.equal_range(*id);
    for (auto waiter = begin; waiter != end; ++waiter) {
      waiter->second->said_ = true;
      waiter->second->woken_.notify_one();
    }
  }
};

ResultWatch::ResultWatch() : desk_(std::make_shared<Desk>()) {}
ResultWatch::~ResultWatch() = default;

ResultWatch::Waiter::Waiter(std::shared_ptr<Desk> desk, const Hash128& id)
    : desk_(std::move(desk)), id_(id) {
  const std::lock_guard lock(desk_->mutex);
  desk_->waiters.emplace(id_, this);
}

ResultWatch::Waiter::~Waiter() {
  const std::lock_guard lock(desk_->mutex);
  const auto [begin, end] = desk_->waiters.equal_range(id_);
  const auto self =
      std::find_if(begin, end, [this](const auto& entry) { return entry.second == this; });
  desk_->waiters.erase(self);
}

void ResultWatch::Waiter::wait(double seconds, const NatsConnection& connection,
                               const NatsSession* session, const Cancellation& cancellation) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(seconds));
  std::unique_lock lock(desk_->mutex);
  while (!said_) {
    const auto now = Clock::now();
    if (now >= end || cancellation.requested()) break;
    woken_.wait_until(lock, std::min(end, now + kLookAround));
    if (said_) break;
    lock.unlock();
    const auto current = connection.session();
    lock.lock();
    // None is there now: whoever waits for one will.
    if (current.get() != session) break;
  }
  said_ = false;
}

Status ResultWatch::attend(const std::shared_ptr<NatsSession>& session) {
  const std::lock_guard lock(mutex_);
  if (attended_ == session.get()) return {};
  auto listening =
      session->listen(kAllDone, [desk = desk_](const Message& message) { desk->hear(message); });
  if (!listening) return listening.error();
  listening_ = *std::move(listening);
  attended_ = session.get();
  return {};
}

}  // namespace regraph::fleet
