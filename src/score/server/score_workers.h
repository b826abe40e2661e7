// Worker processes that judge answers, several at a time.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "score/score_item.h"
#include "score/server/score_worker.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace regraph::score {

struct ScoreWorkersOptions {
  ScoreWorkerOptions worker;
  int workers = 1;
  // Told, in a sentence, of every worker that was lost. From threads of the workers; may be empty.
  std::function<void(const std::string&)> report;
};

struct ScoreWorkersCounts {
  int workers = 0;
  int alive = 0;               // processes that are there
  int idle = 0;                // of them, without an item
  std::size_t queued = 0;      // items that wait for a worker
  std::size_t running = 0;     // items that a worker has
  std::uint64_t scored = 0;    // items with a verdict, so far
  std::uint64_t restarts = 0;  // workers that were lost, so far
};

// Each worker has a thread. A worker that dies, hangs or talks nonsense is replaced and its item
// asked once more; after that it has no verdict, never a wrong one. Thread-safe.
class ScoreWorkers {
 public:
  using Done = std::function<void(const Score&)>;

  // Returns when all workers have answered for the first time. Errors: those of ScoreWorker::ask,
  // cancelled.
  [[nodiscard]] static Result<std::unique_ptr<ScoreWorkers>> start(
      ScoreWorkersOptions options, const Cancellation& cancellation);
  // As stop(), and waits for the threads.
  ~ScoreWorkers();

  // Waits for a worker and for what it says. `problem` is what the state belongs to: items of one
  // problem go to the same worker where that costs no time. Outcome no_verdict where two workers
  // failed, after stop(), and where cancelled; then a worker that has it already goes on with it.
  [[nodiscard]] Score score(const ScoreItem& item, const std::string& problem,
                            const Cancellation& cancellation);

  // The same without waiting: `done` is called once, on a thread of a worker or on this one.
  // Cancelled, an item that still waits is dropped when a worker comes by.
  void submit(ScoreItem item, std::string problem, std::shared_ptr<const Cancellation> cancellation,
              Done done);

  // Kills the workers; all items that are left end without a verdict, within a tenth of a second.
  void stop();

  [[nodiscard]] ScoreWorkersCounts counts() const;

 private:
  struct State;
  explicit ScoreWorkers(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace regraph::score
