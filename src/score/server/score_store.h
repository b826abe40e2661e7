// What was said of answers before: an equal one is not judged again.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "score/score_item.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace regraph::score {

struct ScoreStoreOptions {
  // Hash of what decides a score beside the item: registry, device, evaluator, program.
  std::string context;
  std::size_t entries = 100'000;  // kept in memory; the oldest go first
  // Lines of JSON that are read at the start and added to: {"context", "state", "completion",
  // "cut_off", "score", "rewards"}. Empty: none.
  std::filesystem::path file;
  // Told, once, that the file cannot be written. From any thread; may be empty.
  std::function<void(const std::string&)> report;
};

// Items with the same state, completion and end are the same, whatever their ids. What is not known
// is judged once at a time: who asks meanwhile waits for that. Thread-safe.
class ScoreStore {
 public:
  // `shared`: whether it was judged for somebody else, now or before.
  using Done = std::function<void(const Score&, bool shared)>;
  struct Flight;  // an item that is being judged

  struct Claim {
    std::optional<Score> kept;  // what is known; all else is empty then
    std::shared_ptr<Flight> flight;
    std::uint64_t waiter = 0;
    bool runs = false;  // whether it is the caller who has it judged and calls finish()
    // Requested when nobody waits for it any more. For the one who runs it.
    std::shared_ptr<const Cancellation> cancellation;
  };

  // Lines that cannot be read, the last above all, which may be torn, are passed over. Errors: busy
  // (another program has the file), io, not_found.
  [[nodiscard]] static Result<std::unique_ptr<ScoreStore>> open(ScoreStoreOptions options);
  ~ScoreStore();

  // Looks an item up, or begins to wait for it. `done` is called once, by finish(), unless the
  // item is known or leave() was called; a call that has begun is not waited for.
  [[nodiscard]] Claim claim(const ScoreItem& item, Done done);
  // Tells all who wait, with their own ids, and keeps the score, unless it is no_verdict.
  void finish(const std::shared_ptr<Flight>& flight, const Score& score);
  void leave(const Claim& claim);

  [[nodiscard]] std::size_t size() const;        // scores that are kept
  [[nodiscard]] std::uint64_t recalled() const;  // items that were not judged on their own

 private:
  struct State;
  explicit ScoreStore(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace regraph::score
