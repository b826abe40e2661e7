// Barriers between the warps of a block: completing them, and saying why one never completes.
#include "ptx/execute/block_runner.h"

#include <fmt/format.h>

#include <algorithm>

namespace regraph::ptx {

// Frees the warps of every barrier that is complete. Returns whether there was one.
bool BlockRunner::release_barriers() {
  bool any = false;
  std::uint32_t used = 0;
  for (const Warp& warp : warps_) {
    if (warp.status == WarpStatus::at_barrier) used |= 1U << warp.barrier;
  }
  for (std::uint32_t id = 0; id < kBarriers; ++id) {
    if (((used >> id) & 1U) == 0) continue;
    std::uint32_t at_barrier = 0;
    std::uint32_t finished = 0;
    std::uint32_t expected = 0;
    const Warp* partial = nullptr;
    const Warp* waiting = nullptr;
    for (const Warp& warp : warps_) {
      if (warp.status == WarpStatus::finished) ++finished;
      if (warp.status != WarpStatus::at_barrier || warp.barrier != id) continue;
      ++at_barrier;
      expected = std::max(expected, warp.barrier_threads);
      if (waiting == nullptr) waiting = &warp;
      if (warp.live != warp.initial && partial == nullptr) partial = &warp;
    }
    if (at_barrier == 0) continue;
    if (expected != 0) {
      if (at_barrier * kWarpLanes + arrived_[id] < expected) continue;
    } else {
      const auto all = static_cast<std::uint32_t>(warps_.size());
      const std::uint32_t counted = at_barrier + (exited_threads_arrive_ ? finished : 0);
      if (counted + arrived_[id] / kWarpLanes < all) continue;
      if (partial != nullptr && !exited_threads_arrive_) {
        const int lane = __builtin_ctz(partial->initial & ~partial->live);
        context_.set_fault(FaultKind::barrier_divergence,
                           "this thread has exited, but others of its block wait at a barrier",
                           partial->last, *partial, lane);
        return false;
      }
    }
    finish_barrier(id);
    any = true;
  }
  return any;
}

void BlockRunner::finish_barrier(std::uint32_t id) {
  if (races_ != nullptr) {
    std::uint32_t together = 0;
    bool whole_block = true;
    for (const Warp& warp : warps_) {
      if (warp.status != WarpStatus::at_barrier || warp.barrier != id) continue;
      together |= 1U << warp.index;
      whole_block = whole_block && warp.barrier_threads == 0;
    }
    // Warps that have exited arrived before that.
    for (const Warp& warp : warps_) {
      if (whole_block && warp.status == WarpStatus::finished) together |= 1U << warp.index;
    }
    races_->barrier(id, together);
  }
  std::uint32_t votes = 0;
  bool all = true;
  bool some = false;
  std::int64_t latest = 0;
  for (Warp& warp : warps_) {
    if (warp.status != WarpStatus::at_barrier || warp.barrier != id) continue;
    latest = std::max(latest, warp.time);
    if (static_cast<Operation>(warp.last->handler_id / kLaneTypes) != Operation::barrier_reduce) {
      continue;
    }
    const std::uint32_t vote = predicate(warp, warp.last->c) & warp.barrier_lanes;
    votes += static_cast<std::uint32_t>(__builtin_popcount(vote));
    all = all && vote == warp.barrier_lanes;
    some = some || vote != 0;
  }
  for (Warp& warp : warps_) {
    if (warp.status != WarpStatus::at_barrier || warp.barrier != id) continue;
    const Record& record = *warp.last;
    if (static_cast<Operation>(record.handler_id / kLaneTypes) == Operation::barrier_reduce) {
      if (record.flags == 1) {
        for (int l = 0; l < kWarpLanes; ++l) {
          if (((warp.barrier_lanes >> l) & 1U) != 0)
            lanes<std::uint32_t>(warp, record.d)[l] = votes;
        }
      } else {
        std::uint32_t& d = predicate(warp, record.d);
        const bool value = record.flags == 2 ? all : some;
        d = (d & ~warp.barrier_lanes) | (value ? warp.barrier_lanes : 0);
      }
    }
    warp.time = latest;  // all leave together
    warp.status = WarpStatus::ready;
  }
  arrived_[id] = 0;
}

// Every warp has finished or waits, and no barrier is complete.
void BlockRunner::stuck_fault() {
  const Warp* waiting = nullptr;
  const Warp* other = nullptr;
  const Warp* exited = nullptr;
  bool named = false;
  for (const Warp& warp : warps_) {
    if (warp.status == WarpStatus::finished) {
      if (exited == nullptr) exited = &warp;
      continue;
    }
    named = named || warp.barrier_threads != 0;
    if (waiting == nullptr) {
      waiting = &warp;
    } else if (warp.barrier != waiting->barrier && other == nullptr) {
      other = &warp;
    }
  }
  const int lane = __builtin_ctz(waiting->live);
  if (other != nullptr) {
    context_.set_fault(
        named ? FaultKind::deadlock : FaultKind::barrier_divergence,
        fmt::format("this thread waits at barrier {} for threads that wait at barrier {} (warp {})",
                    waiting->barrier, other->barrier, other->index),
        waiting->last, *waiting, lane);
  } else if (exited != nullptr && !named) {
    context_.set_fault(
        FaultKind::barrier_divergence,
        fmt::format(
            "this thread waits at a barrier that the threads of warp {} never reached: they "
            "have exited",
            exited->index),
        waiting->last, *waiting, lane);
  } else {
    context_.set_fault(
        FaultKind::deadlock,
        fmt::format("this thread waits at barrier {} for {} threads, fewer ever arrive",
                    waiting->barrier, waiting->barrier_threads),
        waiting->last, *waiting, lane);
  }
}

}  // namespace regraph::ptx
