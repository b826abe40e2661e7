// Runs blocks of an address slice, one at a time, and keeps what they address.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "ptx/caches/access_trace.h"
#include "ptx/execute/block_runner.h"

#include <cstdint>

namespace regraph::ptx {

// A launch of which only what addresses depend on is executed. What it refers to must outlive it.
struct SlicedLaunch {
  const Program::Code& slice;
  const LaunchArguments& arguments;
  const LaunchMemory& memory;
  const Cancellation& cancellation;
  std::uint64_t instructions_per_block;  // warp instructions, at most
  bool runs_atomics;                     // the slice has global atomics, which happen
};

// A block that ended wrongly: how the simulation ends, and the fault if it is one of the kernel.
struct TraceFailure {
  Error error;
  Fault kernel_fault;  // kind none: the slice's alone
};

class BlockTracer {
 public:
  explicit BlockTracer(const SlicedLaunch& launch);

  // Appends the block's requests to the trace, in order of time by quanta.
  [[nodiscard]] Result<void, TraceFailure> run(std::uint64_t block);

  [[nodiscard]] AccessTrace& trace() { return trace_; }
  [[nodiscard]] const AccessTrace& trace() const { return trace_; }
  // Of the last block, in warp instructions: all, and those of the longest warp.
  [[nodiscard]] std::uint64_t executed() const { return runner_.executed(); }
  [[nodiscard]] std::int64_t duration() const { return runner_.duration(); }
  // As BlockRunner's.
  void set_time_limit(std::int64_t limit) { runner_.set_time_limit(limit); }

 private:
  const SlicedLaunch& launch_;
  AccessTrace trace_;
  BlockRunner runner_;
};

}  // namespace regraph::ptx
