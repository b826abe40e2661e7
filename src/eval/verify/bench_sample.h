// Blocks of a plan at a bench size: what one did is kept, and what the whole plan would cost.
#pragma once

#include "base/cancellation.h"
#include "base/thread_budget.h"
#include "eval/verify/bench_run.h"
#include "eval/verify/block_map.h"
#include "eval/verify/blocks_ahead.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace regraph::verify {

// Warp instructions that launches before the last one may take, which have to run before any block
// of it.
inline constexpr std::uint64_t kEarlierInstructions = 128'000'000;

class BenchSample {
 public:
  // All must outlive the sample.
  BenchSample(const Problem& problem, const LoadedPlan& plan, const Symbols& symbols,
              const BenchInputs& inputs, std::uint64_t poison_seed, std::size_t pointer_offset,
              ThreadBudget& threads);

  // Runs a few blocks of every launch, then all launches before the last if they take at most
  // `earlier` warp instructions. Errors: the plan cannot be launched. After a fault of a block that
  // found all it needs, fault() says which.
  Status start(std::uint64_t earlier, const Cancellation& cancellation);

  [[nodiscard]] const ptx::Fault& fault() const { return fault_; }
  // Warp instructions of all launches, estimated from blocks that ran.
  [[nodiscard]] double estimated_instructions() const { return estimated_; }
  // Whether blocks of the last launch write what they would among all others: those before it ran
  // as a whole, and it has no atomics on global memory.
  [[nodiscard]] bool blocks_stand_alone() const { return stands_alone_; }
  [[nodiscard]] const Dim3& grid() const { return run_->launch(run_->launches() - 1).grid; }
  [[nodiscard]] const Dim3& block_extent() const {
    return run_->launch(run_->launches() - 1).block;
  }

  // What a block of the last launch does; it runs when it is first asked for.
  const BlockRecord& block(std::uint64_t block, const Cancellation& cancellation);
  // Says that block() will be asked for these next, in this order, while no more than `until` warp
  // instructions are spent: threads to spare run them. What the sample says does not depend on it.
  void run_ahead(std::span<const std::uint64_t> blocks, std::uint64_t until,
                 const Cancellation& cancellation);
  // All blocks of the last launch so far, by number.
  [[nodiscard]] const std::map<std::uint64_t, BlockRecord>& blocks() const { return records_; }
  // Warp instructions of those.
  [[nodiscard]] std::uint64_t spent() const { return spent_; }
  // Which block writes what, from the blocks so far; only where it explains all of them.
  [[nodiscard]] std::optional<BlockMap> map() const;
  // Whether no block wrote what it should not after `map`.
  [[nodiscard]] bool explained_by(const BlockMap& map) const;
  // What ran so far.
  [[nodiscard]] PathSet paths() const;
  // Of launches before the last that ran as a whole.
  [[nodiscard]] const PathSet& earlier_paths() const { return earlier_paths_; }

  [[nodiscard]] const BenchRun& run() const { return *run_; }

 private:
  Result<std::unique_ptr<BenchRun>> fresh() const;
  void probe(std::size_t launch, const Cancellation& cancellation);
  Status run_earlier(const Cancellation& cancellation);
  void prepare_last();
  BlockRecord run_one(std::size_t launch, std::uint64_t block, const Cancellation& cancellation);

  const Problem& problem_;
  const LoadedPlan& plan_;
  const Symbols& symbols_;
  const BenchInputs& inputs_;
  std::uint64_t poison_seed_;
  std::size_t pointer_offset_;
  ThreadBudget& threads_;
  std::unique_ptr<BenchRun> run_;
  std::unique_ptr<BlocksAhead> ahead_;  // of the last launch; null: its blocks run one by one
  ptx::Fault fault_;
  double estimated_ = 0.0;
  bool stands_alone_ = false;
  std::map<std::uint64_t, BlockRecord> records_;
  BlockRecord unfinished_;  // the last one that was cancelled
  std::uint64_t spent_ = 0;
  PathSet probed_paths_;
  PathSet earlier_paths_;
};

// Corners of a grid, its centre and blocks drawn from `seed`, most telling first, each once.
[[nodiscard]] std::vector<std::uint64_t> telling_blocks(const Dim3& grid, std::uint64_t seed,
                                                        int drawn);

// Blocks of a grid of blocks that are alike that stand for it when it is timed, ascending: all of a
// small grid, else two of its interior, as the edge is a small part of a grid worth timing.
[[nodiscard]] std::vector<std::uint64_t> representative_blocks(const Dim3& grid);

}  // namespace regraph::verify
