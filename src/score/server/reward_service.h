// Batches of answers, from JSON to JSON.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "learn/reward.h"
#include "score/score_item.h"
#include "score/server/score_store.h"
#include "score/server/score_workers.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace regraph::score {

struct RewardServiceOptions {
  // The problem that a state belongs to; nothing where there is no such state. Thread-safe.
  std::function<std::optional<std::string>(std::string_view state)> problem_of;
  std::size_t queue = 16384;  // items that wait at once, of all batches; a whole batch at least
  std::string version;        // of the program
  std::string registry;       // hash of it
  std::string device;
};

// What a client is told instead of rewards.
struct Refusal {
  int status = 400;  // as of HTTP: 400, 413 or 503
  std::string message;
};

struct BatchRequest;

// A batch that was read and waits for its scores. Leaving it gives up what has not begun.
class RewardBatch {
 public:
  ~RewardBatch();
  RewardBatch(const RewardBatch&) = delete;
  RewardBatch& operator=(const RewardBatch&) = delete;

  // Whether all are there, after `seconds` at most. Thread-safe.
  [[nodiscard]] bool wait(double seconds);

  // Once all are there:
  // {"results": [{"id", "reward", "outcome", "verdict", "message", "seconds", "interval",
  // "parent_seconds", "speedup", "same_as_rewriter", "cached"}], "reward", "version"}
  // in the order of the items. Times in seconds; what there is none of is null.
  [[nodiscard]] std::string results() const;
  // {"rewards": [], "scores": [], "extra_logs": {}}, as OpenRLHF wants them: numbers. Refused with
  // 503 where one has no verdict (what has one is remembered, so that asking again costs only the
  // rest), with 400 where a state is unknown.
  [[nodiscard]] Result<std::string, Refusal> plain_results() const;

 private:
  friend class RewardService;
  struct State;
  explicit RewardBatch(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

// Thread-safe.
class RewardService {
 public:
  static constexpr std::size_t kMostItems = 4096;
  static constexpr std::size_t kLargestBody = std::size_t{64} << 20;  // bytes

  // `workers` and `store` must outlive this and all its batches, and the store the workers, which
  // tell it what becomes of items until they are gone.
  RewardService(RewardServiceOptions options, ScoreWorkers& workers, ScoreStore& store);
  ~RewardService();

  // {"reward": kind, "items": [{"id", "state", "completion", "cut_off"}]}; `reward` is `regraph`
  // where it is left out. Reads all before anything waits for a worker. Refused with 400 (names
  // what is wrong, and the index of the item), 413 (too many items or bytes), 503 (the queue is
  // full).
  [[nodiscard]] Result<std::unique_ptr<RewardBatch>, Refusal> admit(std::string_view body);

  // {"query": [], "prompts": [], "labels": []}: a query is its prompt and the answer, a label the
  // id of a state. `reward` may be there, too. Refused as above; also where a query does not hold
  // its prompt.
  [[nodiscard]] Result<std::unique_ptr<RewardBatch>, Refusal> admit_queries(std::string_view body);

  // {"status", "workers", "alive", "queued", "scored", "cached", "restarts", "registry", "device",
  // "version"}. The status is "ok", or "degraded" while a worker is missing.
  [[nodiscard]] std::string health() const;

 private:
  struct State;
  [[nodiscard]] Result<std::unique_ptr<RewardBatch>, Refusal> begin(
      Result<BatchRequest, Refusal> request);
  std::unique_ptr<State> state_;
};

}  // namespace regraph::score
