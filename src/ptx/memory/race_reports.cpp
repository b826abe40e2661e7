// What the race detector says of what it found.
#include "ptx/memory/race_detector.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

namespace regraph::ptx {
namespace {

std::string thread_text(const BlockContext& block, std::uint32_t warp, int lane) {
  Warp one;
  one.index = warp;
  const Dim3 thread = block.thread_of(one, lane);
  return fmt::format("thread ({}, {}, {})", thread.x, thread.y, thread.z);
}

}  // namespace

bool RaceDetector::report(const Access& earlier, bool earlier_writes, bool writes,
                          const Current& now, std::uint64_t address) {
  BlockContext& block = *now.warp->block;
  // The fault names this access; its message the other one too.
  int here = now.lane;
  std::uint32_t others = earlier.lanes;
  const bool is_asynchronous = earlier.agent != kNoAgent;
  if (earlier.block == block_ && earlier.warp == now.access.warp && !is_asynchronous) {
    others &= ~(1U << here);
    if (others == 0) {  // the earlier thread is among several that are here now
      others = earlier.lanes;
      const std::uint32_t rest = now.access.lanes & ~others;
      if (rest != 0) here = __builtin_ctz(rest);
    }
  }
  const int lane = others == 0 ? 0 : __builtin_ctz(others);
  const InstructionInfo& before = code_.instructions[earlier.instruction];
  const InstructionInfo& after = code_.instructions[now.access.instruction];
  const auto place = [](const InstructionInfo& info) {
    return info.source_line > 0 ? fmt::format("line {}", info.source_line)
                                : fmt::format("PTX line {}", info.line);
  };
  std::string who = thread_text(block, earlier.warp, lane);
  if (earlier.block != block_) {
    const std::uint64_t linear = earlier.block - 1;
    who = fmt::format("block ({}, {}, {}) {}", linear % block.grid.x,
                      linear / block.grid.x % block.grid.y, linear / block.grid.x / block.grid.y,
                      who);
  }
  const std::vector<MemoryRegion>& regions = now.is_shared ? block.shared : block.global;
  std::string what = now.is_shared ? "shared memory" : "global memory";
  for (const MemoryRegion& region : regions) {
    if (address < region.begin || address >= region.end) continue;
    what = fmt::format("byte {} of '{}'{}", address - region.begin, region.name,
                       now.is_shared ? " (shared)" : "");
  }
  const bool reads_only = after.mnemonic.find(".nc") != std::string::npos;
  const char* missing = reads_only ? "ld.global.nc is for memory that the launch never writes"
                        : earlier.block != block_ ? "blocks are not ordered"
                        : is_asynchronous         ? "nothing waited until that was done"
                        : earlier.warp == now.access.warp
                            ? "no __syncwarp() or barrier stands between them"
                            : "no barrier stands between them";
  block.set_fault(FaultKind::data_race,
                  fmt::format("a data race: {} at {} {} {}, which {} at {} {}; {}",
                              thread_text(block, now.access.warp, here), place(after),
                              writes ? "writes" : "reads", what, who, place(before),
                              earlier_writes ? "wrote" : "read", missing),
                  now.record, *now.warp, here);
  now.warp->status = WarpStatus::faulted;
  now.warp->last = now.record;
  return false;
}

void RaceDetector::note_uninitialised(const Current& now, std::uint64_t address) {
  if (uninitialised_.has_value()) return;
  const BlockContext& block = *now.warp->block;
  Fault fault;
  fault.kind = FaultKind::uninitialised_read;
  for (const MemoryRegion& region : block.shared) {
    if (address < region.begin || address >= region.end) continue;
    fault.message =
        fmt::format("reads byte {} of '{}' in shared memory, which no thread has written",
                    address - region.begin, region.name);
  }
  fault.ptx_line = code_.instructions[now.access.instruction].line;
  fault.source_line = code_.instructions[now.access.instruction].source_line;
  fault.block = block.block_index;
  fault.thread = block.thread_of(*now.warp, now.lane);
  uninitialised_ = std::move(fault);
}

}  // namespace regraph::ptx
