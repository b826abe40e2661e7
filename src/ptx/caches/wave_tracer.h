// What the blocks of a wave address, traced by several threads where there are some to spare.
#pragma once

#include "base/thread_budget.h"
#include "ptx/caches/block_tracer.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace regraph::ptx {

// The requests [begin, end) of a trace are one block's, sorted by time.
struct BlockRequests {
  const AccessTrace* trace = nullptr;
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct TracedWave {
  std::vector<BlockRequests> blocks;                  // in order
  std::uint64_t requests = 0;                         // of all
  std::vector<std::unique_ptr<BlockTracer>> tracers;  // that the blocks refer to
};

// Thread-safe, but for set_time_limit. What a wave's blocks are found to address does not depend on
// the threads.
class WaveTracer {
 public:
  // Both must outlive the object.
  WaveTracer(const SlicedLaunch& launch, ThreadBudget& threads)
      : launch_(launch), threads_(threads) {}

  // Of all blocks from now on, as BlockTracer::set_time_limit.
  void set_time_limit(std::int64_t limit) { time_limit_ = limit; }

  // Runs `count` blocks. When some end wrongly: how the first of them did.
  [[nodiscard]] Result<TracedWave, TraceFailure> trace(std::uint64_t first_block,
                                                       std::uint64_t count);
  // A tracer that a later wave will use, too, if it is given back: of no requests, but with the
  // patterns and atomics it has met.
  [[nodiscard]] std::unique_ptr<BlockTracer> take();
  void give_back(std::unique_ptr<BlockTracer> tracer);
  // Of a wave that nobody looks at any more.
  void give_back(TracedWave wave);

 private:
  const SlicedLaunch& launch_;
  ThreadBudget& threads_;
  std::int64_t time_limit_ = 0;
  std::mutex mutex_;
  std::vector<std::unique_ptr<BlockTracer>> unused_;  // guarded by mutex_
};

}  // namespace regraph::ptx
