#include "fleet/queue/memory_broker.h"

#include "fleet/queue/memory_lanes.h"
#include "fleet/queue/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

namespace regraph::fleet {
namespace {

using Clock = std::chrono::steady_clock;

// Nobody wakes a waiter whose caller asks to stop: it looks by itself.
constexpr auto kLook = std::chrono::milliseconds(20);
constexpr std::chrono::hours kFailureLife(24 * 7);

Clock::duration seconds_of(double seconds) {
  // Far below what overflows, far beyond what anybody waits.
  return std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(std::clamp(seconds, 0.0, 1e8)));
}

}  // namespace

struct MemoryBroker::State {
  struct Notice {
    std::string text;
    Clock::time_point gone;
  };

  double lease_seconds = kLeaseSeconds;
  std::mutex mutex;
  std::condition_variable work;  // a job that may be had
  std::condition_variable done;  // a result
  MemoryLanes lanes;
  std::unordered_map<Hash128, std::string> results;
  std::unordered_map<Hash128, std::string> blobs;
  std::array<std::map<std::string, Notice>, 2> boards;

  [[nodiscard]] Clock::time_point lease_end() const {
    return Clock::now() + seconds_of(lease_seconds);
  }
  // The board without what is gone.
  std::map<std::string, Notice>& board(Board which) {
    auto& notices = boards.at(static_cast<std::size_t>(which));
    std::erase_if(notices,
                  [now = Clock::now()](const auto& entry) { return entry.second.gone <= now; });
    return notices;
  }

  class Holding;
  // The first job that has no result.
  std::unique_ptr<Lease> take_now(const std::shared_ptr<State>& self,
                                  std::span<const std::string> lanes_wanted);
};

class MemoryBroker::State::Holding final : public Lease {
 public:
  Holding(std::shared_ptr<State> state, MemoryLanes::Handout handout)
      : state_(std::move(state)), handout_(std::move(handout)) {}

  [[nodiscard]] const Job& job() const override { return handout_.job; }
  [[nodiscard]] int deliveries() const override { return handout_.deliveries; }

  void extend() override {
    const std::lock_guard lock(state_->mutex);
    state_->lanes.extend(handout_, state_->lease_end());
  }

  [[nodiscard]] Result<bool> finish(std::string_view result, const Cancellation&) override {
    const std::lock_guard lock(state_->mutex);
    const bool first = state_->results.emplace(handout_.job.id, result).second;
    state_->lanes.remove(handout_);
    state_->done.notify_all();
    return first;
  }

  void give_back(double seconds) override {
    const std::lock_guard lock(state_->mutex);
    state_->lanes.give_back(handout_, Clock::now() + seconds_of(seconds));
    state_->work.notify_all();
  }

 private:
  std::shared_ptr<State> state_;
  MemoryLanes::Handout handout_;
};

std::unique_ptr<Lease> MemoryBroker::State::take_now(const std::shared_ptr<State>& self,
                                                     std::span<const std::string> lanes_wanted) {
  for (const std::string& lane : lanes_wanted) {
    while (auto handout = lanes.take(lane, Clock::now(), lease_end())) {
      if (!results.contains(handout->job.id))
        return std::make_unique<Holding>(self, *std::move(handout));
      // It came back after its lease while the first worker was still at it.
      lanes.remove(*handout);
    }
  }
  return nullptr;
}

MemoryBroker::MemoryBroker(double lease_seconds) : state_(std::make_shared<State>()) {
  state_->lease_seconds = lease_seconds;
}

MemoryBroker::~MemoryBroker() = default;

Result<std::string> MemoryBroker::ask(const Job& job, const Cancellation& cancellation) {
  if (const Status lane = check_lane(job.lane); !lane) return lane.error();
  std::unique_lock lock(state_->mutex);
  while (true) {
    const auto found = state_->results.find(job.id);
    if (found != state_->results.end()) return found->second;
    if (state_->lanes.add(job)) state_->work.notify_all();
    if (cancellation.requested())
      return fail(ErrorCode::cancelled, "cancelled while a job was waited for");
    state_->done.wait_for(lock, kLook);
  }
}

void MemoryBroker::take_back(const Job& job) {
  const std::lock_guard lock(state_->mutex);
  state_->lanes.remove(job);
}

Status MemoryBroker::keep(const Hash128& id, std::string_view bytes, const Cancellation&) {
  if (hash_text(bytes) != id)
    return fail(ErrorCode::invalid_argument, "bytes to be kept do not have the hash given");
  const std::lock_guard lock(state_->mutex);
  state_->blobs.emplace(id, bytes);
  return {};
}

Result<LaneState> MemoryBroker::state(const std::string& lane) {
  if (const Status good = check_lane(lane); !good) return good.error();
  const std::lock_guard lock(state_->mutex);
  return state_->lanes.state(lane, Clock::now());
}

Result<std::unique_ptr<Lease>> MemoryBroker::take(std::span<const std::string> lanes,
                                                  double seconds,
                                                  const Cancellation& cancellation) {
  for (const std::string& lane : lanes)
    if (const Status good = check_lane(lane); !good) return good.error();
  const Clock::time_point end = Clock::now() + seconds_of(seconds);
  std::unique_lock lock(state_->mutex);
  while (true) {
    if (auto lease = state_->take_now(state_, lanes)) return lease;
    const Clock::time_point now = Clock::now();
    if (cancellation.requested() || now >= end) return std::unique_ptr<Lease>();
    Clock::time_point look = std::min(end, now + kLook);
    for (const std::string& lane : lanes)
      look = std::min(look, state_->lanes.next_free(lane).value_or(look));
    state_->work.wait_until(lock, look);
  }
}

Result<std::string> MemoryBroker::fetch(const Hash128& id) {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->blobs.find(id);
  if (found == state_->blobs.end())
    return fail(ErrorCode::not_found, fmt::format("nothing is kept under {}", id.hex()));
  return found->second;
}

Status MemoryBroker::post(Board board, const std::string& key, std::string_view text) {
  if (Status good = check_key(key); !good) return good;
  const std::lock_guard lock(state_->mutex);
  const auto life = board == Board::workers ? seconds_of(kPresenceSeconds) : kFailureLife;
  state_->board(board).insert_or_assign(
      key, State::Notice{.text = std::string(text), .gone = Clock::now() + life});
  return {};
}

Result<std::string> MemoryBroker::read(Board board, const std::string& key) {
  if (const Status good = check_key(key); !good) return good.error();
  const std::lock_guard lock(state_->mutex);
  const auto& notices = state_->board(board);
  const auto found = notices.find(key);
  return found == notices.end() ? std::string() : found->second.text;
}

Status MemoryBroker::withdraw(Board board, const std::string& key) {
  if (Status good = check_key(key); !good) return good;
  const std::lock_guard lock(state_->mutex);
  state_->board(board).erase(key);
  return {};
}

Result<std::map<std::string, std::string>> MemoryBroker::notices(Board board, std::size_t most) {
  const std::lock_guard lock(state_->mutex);
  std::map<std::string, std::string> texts;
  for (const auto& [key, notice] : state_->board(board)) {
    if (texts.size() == most) break;
    texts.emplace(key, notice.text);
  }
  return texts;
}

}  // namespace regraph::fleet
