#include "score/server/score_store.h"

#include "base/hash.h"
#include "score/server/score_journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace regraph::score {

struct ScoreStore::Flight {
  Hash128 key;
  ScoreItem item;
  std::shared_ptr<Cancellation> cancellation = std::make_shared<Cancellation>();
  // In the order in which they came; the first is the one for whom it is judged.
  struct Waiter {
    std::string id;
    Done done;
  };
  std::map<std::uint64_t, Waiter> waiters;
};

struct ScoreStore::State {
  explicit State(ScoreStoreOptions given) : options(std::move(given)) {}

  const ScoreStoreOptions options;
  mutable std::mutex mutex;
  std::unordered_map<Hash128, Score> scores;
  std::deque<Hash128> order;
  std::unordered_map<Hash128, std::shared_ptr<Flight>> flights;
  std::uint64_t last_waiter = 0;
  std::uint64_t recalled = 0;
  std::mutex journal_mutex;
  std::optional<ScoreJournal> journal;
  bool complained = false;

  [[nodiscard]] Hash128 key_of(const ScoreItem& item) const {
    return Hasher()
        .add(options.context)
        .add(item.state)
        .add(item.completion)
        .add(std::uint64_t{item.cut_off})
        .finish();
  }

  // With the lock.
  void keep(const Hash128& key, const Score& score) {
    if (score.facts.outcome == learn::AnswerOutcome::no_verdict) return;
    if (!scores.insert_or_assign(key, score).second) return;
    order.push_back(key);
    if (order.size() <= std::max<std::size_t>(1, options.entries)) return;
    scores.erase(order.front());
    order.pop_front();
  }

  void write(const ScoreItem& item, const Score& score) {
    if (score.facts.outcome == learn::AnswerOutcome::no_verdict) return;
    const std::lock_guard lock(journal_mutex);
    if (!journal) return;
    const Status written = journal->append(item, score);
    if (written || complained) return;
    complained = true;
    if (options.report)
      options.report(written.error().message + "; scores go on without being kept there");
  }
};

ScoreStore::ScoreStore(std::unique_ptr<State> state) : state_(std::move(state)) {}
ScoreStore::~ScoreStore() = default;

Result<std::unique_ptr<ScoreStore>> ScoreStore::open(ScoreStoreOptions options) {
  auto state = std::make_unique<State>(std::move(options));
  if (!state->options.file.empty()) {
    Result<ScoreJournal> journal =
        ScoreJournal::open(state->options.file, state->options.context,
                           [&](const ScoreItem& item, const Score& score) {
                             state->keep(state->key_of(item), score);
                           });
    if (!journal) return std::move(journal).error();
    if (const std::size_t damaged = journal->damaged_lines();
        damaged > 0 && state->options.report) {
      state->options.report(fmt::format(
          "{}: {} line{} cannot be read or {} changed; the scores in {} are not used, and what is "
          "asked again is judged again",
          state->options.file.string(), damaged, damaged == 1 ? "" : "s",
          damaged == 1 ? "was" : "were", damaged == 1 ? "it" : "them"));
    }
    state->journal.emplace(*std::move(journal));
  }
  return std::unique_ptr<ScoreStore>(new ScoreStore(std::move(state)));
}

ScoreStore::Claim ScoreStore::claim(const ScoreItem& item, Done done) {
  const Hash128 key = state_->key_of(item);
  const std::lock_guard lock(state_->mutex);
  Claim claim;
  if (const auto found = state_->scores.find(key); found != state_->scores.end()) {
    ++state_->recalled;
    claim.kept = found->second;
    claim.kept->id = item.id;
    return claim;
  }
  std::shared_ptr<Flight>& flight = state_->flights[key];
  claim.runs = flight == nullptr;
  if (claim.runs) {
    flight = std::make_shared<Flight>();
    flight->key = key;
    flight->item = item;
  } else {
    ++state_->recalled;
  }
  claim.waiter = ++state_->last_waiter;
  flight->waiters[claim.waiter] = {item.id, std::move(done)};
  claim.flight = flight;
  claim.cancellation = flight->cancellation;
  return claim;
}

void ScoreStore::finish(const std::shared_ptr<Flight>& flight, const Score& score) {
  // Written before anybody is told: what a client has seen is there after a restart.
  state_->write(flight->item, score);
  std::map<std::uint64_t, Flight::Waiter> waiters;
  {
    const std::lock_guard lock(state_->mutex);
    state_->keep(flight->key, score);
    waiters.swap(flight->waiters);
    const auto found = state_->flights.find(flight->key);
    if (found != state_->flights.end() && found->second == flight) state_->flights.erase(found);
  }
  Score own = score;
  bool shared = false;
  for (auto& [number, waiter] : waiters) {
    own.id = waiter.id;
    waiter.done(own, std::exchange(shared, true));
  }
}

void ScoreStore::leave(const Claim& claim) {
  if (!claim.flight) return;
  const std::lock_guard lock(state_->mutex);
  Flight& flight = *claim.flight;
  flight.waiters.erase(claim.waiter);
  if (!flight.waiters.empty()) return;
  // Whoever asks for it from now on begins anew: this one may be dropped at any moment.
  flight.cancellation->request();
  const auto found = state_->flights.find(flight.key);
  if (found != state_->flights.end() && found->second == claim.flight) state_->flights.erase(found);
}

std::size_t ScoreStore::size() const {
  const std::lock_guard lock(state_->mutex);
  return state_->scores.size();
}

std::uint64_t ScoreStore::recalled() const {
  const std::lock_guard lock(state_->mutex);
  return state_->recalled;
}

}  // namespace regraph::score
