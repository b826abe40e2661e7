// Tells a block that will never end from one that takes long: its whole state comes back.
#include "base/hash.h"
#include "ptx/execute/block_runner.h"

#include <span>

namespace regraph::ptx {
namespace {

std::uint64_t add_hash(std::uint64_t hash, const void* data, std::size_t bytes) {
  if (bytes == 0) return hash;
  constexpr std::uint64_t kOdd = 0x9e37'79b9'7f4a'7c15ULL;
  return hash * kOdd + hash_bytes(std::span(static_cast<const std::byte*>(data), bytes)).low;
}

}  // namespace

// Everything the block's future depends on, but for global memory.
std::uint64_t BlockRunner::state_hash() const {
  std::uint64_t hash = 0;
  const auto add = [&](const void* data, std::size_t bytes) { hash = add_hash(hash, data, bytes); };
  for (const Warp& warp : warps_) {
    const std::uint64_t place[] = {static_cast<std::uint64_t>(warp.resume - warp.records),
                                   static_cast<std::uint64_t>(warp.status),
                                   warp.active,
                                   warp.live,
                                   warp.reconvergence,
                                   warp.frame,
                                   warp.depth,
                                   warp.barrier};
    add(place, sizeof(place));
    add(warp.stack, warp.stack_size * sizeof(StackEntry));
    add(warp.registers, code_.register_bytes);
  }
  add(shared_.data(), shared_.size());
  add(local_.data(), local_.size());
  add(arrived_, sizeof(arrived_));
  return hash;
}

std::uint64_t BlockRunner::global_hash() const {
  std::uint64_t hash = 0;
  for (const MemoryRegion& region : context_.global) {
    if (region.writable)
      hash = add_hash(hash, region.host, region.end + region.slack - region.begin);
  }
  return hash;
}

// Brent's cycle detection over rounds of the scheduler: one state is kept, taken anew at powers of
// two. Nothing else runs, so a state that comes back comes back for ever.
bool BlockRunner::repeats(std::uint64_t round) {
  constexpr std::uint64_t kFirstRound = 16;  // most blocks have ended long before
  if (round < kFirstRound) return false;
  const std::uint64_t state = state_hash();
  if (round > kFirstRound && state == seen_state_ && global_hash() == seen_global_) return true;
  if ((round & (round - 1)) == 0) {
    seen_state_ = state;
    seen_global_ = global_hash();
  }
  return false;
}

}  // namespace regraph::ptx
