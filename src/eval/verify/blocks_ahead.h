// Blocks of a bench run that threads to spare run before anybody asks for them.
//
// Blocks are asked for in some order and see what those before them wrote, as they run in one
// memory. Ahead they run in memories of their own, where they see what the launches before left,
// and log what they read of memory that may be written:
//
//     run(4, 7, 9):   memory A:  4  9        memory B:  7
//     take(4), take(7), take(9):   read nothing that was written since?  --yes-->  writes are copied
//                                                                        --no--->  it runs again
//
// So take gives what it would give if nothing ran ahead.
#pragma once

#include "base/cancellation.h"
#include "base/thread_budget.h"
#include "eval/verify/bench_run.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace regraph::verify {

// Addresses that were written.
class WrittenAddresses {
 public:
  void add(const ptx::AddressLog& writes);
  // Whether the log has some of them.
  [[nodiscard]] bool meet(const ptx::AddressLog& reads);
  [[nodiscard]] std::size_t ranges() const { return ranges_.size(); }

 private:
  void join();

  std::vector<ptx::AddressLog::Range> ranges_;
  bool joined_ = true;  // sorted and apart
};

// For one thread at a time, which is joined by those to spare.
class BlocksAhead {
 public:
  // All must outlive this. In the memory of `run` no block of `launch` has run, and those before it
  // ran with run_logged. Blocks may take `budget` warp instructions each.
  BlocksAhead(BenchRun& run, std::size_t launch, std::uint64_t budget, ThreadBudget& threads);

  // Threads to spare, and this one with them, run those of the blocks that did not run yet, until
  // they took about `most` warp instructions or one has a fault. Nothing runs without threads to
  // spare, where the first of the blocks ran already, or where they turned out to depend on each
  // other.
  void run(std::span<const std::uint64_t> blocks, std::uint64_t most,
           const Cancellation& cancellation);

  // Runs the block, in the memory of the run, unless it ran ahead. Not twice.
  [[nodiscard]] BlockRecord take(std::uint64_t block, const Cancellation& cancellation);

  // Blocks that ran ahead and were not taken.
  [[nodiscard]] std::size_t waiting() const { return given_up_ ? 0 : done_.size(); }

 private:
  // What a block that ran ahead did.
  struct Done {
    BlockTrace trace;
    std::vector<std::byte> values;  // of what it wrote
  };
  // A memory and what blocks wrote there.
  struct Memory {
    std::unique_ptr<BenchRun> run;
    WrittenAddresses written;
  };

  [[nodiscard]] std::optional<Done> run_beside(std::uint64_t block,
                                               const Cancellation& cancellation);
  [[nodiscard]] std::unique_ptr<Memory> borrow_memory();
  void give_up();
  void wrote(const ptx::AddressLog& writes);

  BenchRun& run_;
  std::size_t launch_;
  std::uint64_t budget_;
  ThreadBudget& threads_;
  // Blocks that wait to be taken.
  std::map<std::uint64_t, Done> done_;
  WrittenAddresses written_;           // by blocks, in the memory of the run
  std::atomic<bool> given_up_{false};  // running ahead does not pay here
  std::mutex mutex_;
  std::vector<std::unique_ptr<Memory>> memories_;  // that no thread uses now; guarded by mutex_
};

}  // namespace regraph::verify
