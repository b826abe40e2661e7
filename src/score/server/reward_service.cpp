#include "score/server/reward_service.h"

#include "base/json_text.h"
#include "score/server/batch_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

namespace regraph::score {
namespace {

using RewardJson = nlohmann::ordered_json;

constexpr int kBusy = 503;
constexpr int kUnusable = 400;

RewardJson positive_or_null(double seconds) {
  return seconds > 0.0 ? RewardJson(seconds) : RewardJson();
}

RewardJson result_of(const Score& score, std::optional<double> reward, bool cached) {
  const bool correct = learn::is_correct(score.facts.outcome);
  const double seconds = correct ? score.facts.seconds : 0.0;
  const double parent = score.facts.parent_seconds;
  RewardJson json;
  json["id"] = score.id;
  json["reward"] = reward ? RewardJson(*reward) : RewardJson();
  json["outcome"] = learn::name(score.facts.outcome);
  json["verdict"] = score.facts.outcome == learn::AnswerOutcome::no_verdict
                        ? RewardJson()
                        : RewardJson(name(score.verdict));
  json["message"] = score.message;
  json["seconds"] = positive_or_null(seconds);
  json["interval"] = seconds > 0.0 && score.time.high_seconds > 0.0
                         ? RewardJson{score.time.low_seconds, score.time.high_seconds}
                         : RewardJson();
  json["parent_seconds"] = positive_or_null(parent);
  json["speedup"] = seconds > 0.0 ? positive_or_null(parent / seconds) : RewardJson();
  json["same_as_rewriter"] =
      score.same_as_rewriter ? RewardJson(*score.same_as_rewriter) : RewardJson();
  json["cached"] = cached;
  return json;
}

}  // namespace

// What waits at the service, counted until it is judged or dropped, whatever became of its batch.
struct RewardService::State {
  RewardServiceOptions options;
  ScoreWorkers& workers;
  ScoreStore& store;
  std::shared_ptr<std::atomic<std::size_t>> waiting = std::make_shared<std::atomic<std::size_t>>(0);

  // Room for all of a batch, or none. A batch is let in where nothing waits, however large.
  [[nodiscard]] bool reserve(std::size_t items) {
    std::size_t before = waiting->load();
    do {
      if (before > 0 && before + items > std::max(options.queue, items)) return false;
    } while (!waiting->compare_exchange_weak(before, before + items));
    return true;
  }
};

struct RewardBatch::State {
  learn::RewardKind kind{};
  std::string version;
  ScoreStore* store = nullptr;
  std::mutex mutex;
  std::condition_variable all_there;
  std::size_t missing = 0;
  struct Entry {
    Score score;
    bool cached = false;
    bool unknown_state = false;
  };
  std::vector<Entry> entries;
  std::vector<ScoreStore::Claim> claims;  // what is waited for; this thread's alone

  void put(std::size_t index, const Score& score, bool cached) {
    const std::lock_guard lock(mutex);
    entries[index].score = score;
    entries[index].cached = cached;
    if (--missing == 0) all_there.notify_all();
  }
};

RewardBatch::RewardBatch(std::shared_ptr<State> state) : state_(std::move(state)) {}

RewardBatch::~RewardBatch() {
  for (const ScoreStore::Claim& claim : state_->claims)
    state_->store->leave(claim);
}

bool RewardBatch::wait(double seconds) {
  std::unique_lock lock(state_->mutex);
  return state_->all_there.wait_for(lock, std::chrono::duration<double>(seconds),
                                    [&] { return state_->missing == 0; });
}

std::string RewardBatch::results() const {
  const std::lock_guard lock(state_->mutex);
  RewardJson results = RewardJson::array();
  for (const State::Entry& entry : state_->entries) {
    results.push_back(
        result_of(entry.score, learn::reward(state_->kind, entry.score.facts), entry.cached));
  }
  RewardJson json;
  json["results"] = std::move(results);
  json["reward"] = learn::name(state_->kind);
  json["version"] = state_->version;
  return json_line(json);
}

Result<std::string, Refusal> RewardBatch::plain_results() const {
  const std::lock_guard lock(state_->mutex);
  RewardJson rewards = RewardJson::array();
  RewardJson correct = RewardJson::array();
  for (const State::Entry& entry : state_->entries) {
    const std::optional<double> reward = learn::reward(state_->kind, entry.score.facts);
    if (!reward) {
      return Refusal{
          entry.unknown_state ? kUnusable : kBusy,
          fmt::format("no reward for query {}: {}", entry.score.id, entry.score.message)};
    }
    rewards.push_back(*reward);
    correct.push_back(learn::is_correct(entry.score.facts.outcome) ? 1.0 : 0.0);
  }
  RewardJson json;
  json["scores"] = rewards;
  json["rewards"] = std::move(rewards);
  json["extra_logs"] = {{"correct", std::move(correct)}};
  return json_line(json);
}

RewardService::RewardService(RewardServiceOptions options, ScoreWorkers& workers, ScoreStore& store)
    : state_(new State{std::move(options), workers, store}) {}
RewardService::~RewardService() = default;

// Hands the items to the store, and what it does not know to the workers.
Result<std::unique_ptr<RewardBatch>, Refusal> RewardService::begin(
    Result<BatchRequest, Refusal> request) {
  if (!request) return std::move(request).error();
  std::vector<ScoreItem>& items = request->items;
  if (!state_->reserve(items.size())) {
    return Refusal{kBusy,
                   fmt::format("{} items wait already; try again later", state_->waiting->load())};
  }
  const auto batch = std::make_shared<RewardBatch::State>();
  batch->kind = request->kind;
  batch->version = state_->options.version;
  batch->store = &state_->store;
  batch->entries.resize(items.size());
  batch->missing = items.size();
  const auto release = [waiting = state_->waiting] { --*waiting; };
  for (std::size_t index = 0; index < items.size(); ++index) {
    ScoreItem& item = items[index];
    std::optional<std::string> problem = state_->options.problem_of(item.state);
    if (!problem) {
      release();
      batch->entries[index].unknown_state = true;
      batch->put(index, no_verdict(item, "no state '" + item.state + "' is registered"), false);
      continue;
    }
    ScoreStore::Claim claim = state_->store.claim(
        item,
        [batch, index](const Score& score, bool shared) { batch->put(index, score, shared); });
    if (claim.kept) batch->put(index, *claim.kept, true);
    if (!claim.runs) {
      release();  // it waits for nothing, or for an item that is counted already
    } else {
      state_->workers.submit(
          std::move(item), *std::move(problem), claim.cancellation,
          [&store = state_->store, flight = claim.flight, release](const Score& score) {
            release();
            store.finish(flight, score);
          });
    }
    if (claim.flight) batch->claims.push_back(std::move(claim));
  }
  return std::unique_ptr<RewardBatch>(new RewardBatch(batch));
}

Result<std::unique_ptr<RewardBatch>, Refusal> RewardService::admit(std::string_view body) {
  return begin(read_batch(body));
}

Result<std::unique_ptr<RewardBatch>, Refusal> RewardService::admit_queries(std::string_view body) {
  return begin(read_queries(body));
}

std::string RewardService::health() const {
  const ScoreWorkersCounts counts = state_->workers.counts();
  RewardJson json;
  json["status"] = counts.alive == counts.workers ? "ok" : "degraded";
  json["workers"] = counts.workers;
  json["alive"] = counts.alive;
  json["queued"] = counts.queued;
  json["scored"] = counts.scored;
  json["cached"] = state_->store.recalled();
  json["restarts"] = counts.restarts;
  json["registry"] = state_->options.registry;
  json["device"] = state_->options.device;
  json["version"] = state_->options.version;
  return json_line(json);
}

}  // namespace regraph::score
