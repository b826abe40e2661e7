#include "ptx/execute/path_rotation.h"

#include "ptx/execute/lane_meeting.h"
#include "ptx/execute/reconvergence_stack.h"
#include "ptx/memory/block_context.h"

#include <algorithm>

namespace regraph::ptx {
namespace {

void take(Warp& w, const StackEntry& entry) {
  w.active = w.exec = entry.mask & w.live;
  w.reconvergence = entry.reconvergence;
  w.resume = w.records + entry.resume;
}

StackEntry current_path(const Warp& w, const Record* at) {
  return {static_cast<std::uint32_t>(at - w.records), w.reconvergence, w.active, w.depth};
}

// The path on top runs next; this one goes below its siblings, which begin at `first`.
void next_sibling(Warp& w, std::uint32_t first) {
  const StackEntry current = current_path(w, w.resume);
  std::rotate(w.stack + first, w.stack + w.stack_size - 1, w.stack + w.stack_size);
  const StackEntry next = w.stack[first];
  w.stack[first] = current;
  take(w, next);
}

// Nobody waits any more at the meeting place of the paths that begin at `first`: it is none.
void leave_branch(Warp& w, std::uint32_t first) {
  const std::uint32_t outer = w.stack[first - 1].reconvergence;
  std::copy(w.stack + first, w.stack + w.stack_size, w.stack + first - 1);
  --w.stack_size;
  for (std::uint32_t i = first - 1; i < w.stack_size; ++i)
    w.stack[i].reconvergence = outer;
  w.reconvergence = outer;
}

// Whether the path that will go on at `record` stopped there to wait for others.
bool waits_at(const Record& record) {
  if (record.handler_id >= kArithmeticHandlers) return false;
  const auto operation = static_cast<Operation>(record.handler_id / kLaneTypes);
  return exchanges_lanes(record) ||
         (operation >= Operation::barrier && operation <= Operation::barrier_arrive) ||
         (operation >= Operation::matrix_multiply_add && operation <= Operation::wmma_multiply_add);
}

// All paths of the running branch, which begin at `first` and have the lanes `running`, wait. Says
// whether one of a branch around it does not. Lanes where paths meet have gone past what these wait
// for, and need the paths to stay as they are.
bool outer_path_may_move(const Warp& w, std::uint32_t first, std::uint32_t running) {
  const std::uint32_t base = first_path(w);
  std::uint32_t reconvergence = w.reconvergence;
  while (first > base && reconvergence != kNoBlock) {
    const StackEntry& meeting = w.stack[--first];
    if ((meeting.mask & w.live & ~running) != 0) return false;
    reconvergence = meeting.reconvergence;
    while (first > base && w.stack[first - 1].reconvergence == reconvergence) {
      const StackEntry& entry = w.stack[--first];
      const std::uint32_t mask = entry.mask & w.live & ~running;
      if (mask != 0 && !waits_at(w.records[entry.resume])) return true;
      running |= mask;
    }
  }
  return false;
}

}  // namespace

std::uint32_t first_path(const Warp& w) {
  return w.depth == 0 ? 0 : w.calls->frames.back().stack_base;
}

void rotate_paths(Warp& w) {
  const std::uint32_t base = first_path(w);
  while (w.active != w.live) {
    // Paths of the same branch lie on top; below them is the entry for where they meet.
    std::uint32_t first = w.stack_size;
    std::uint32_t running = w.active;
    std::uint32_t siblings = 0;
    while (first > base && w.stack[first - 1].reconvergence == w.reconvergence) {
      --first;
      const std::uint32_t mask = w.stack[first].mask & w.live & ~running;
      siblings |= mask;
      running |= mask;
    }
    const bool has_meeting = first > base && w.reconvergence != kNoBlock;
    if (has_meeting) {
      const StackEntry meeting = w.stack[first - 1];
      const std::uint32_t waiting = meeting.mask & w.live & ~running;
      if (waiting != 0) {
        w.rotated = true;
        const StackEntry current = current_path(w, w.resume);
        w.stack[first - 1] = current;
        for (std::uint32_t i = first - 1; i < w.stack_size; ++i)
          w.stack[i].reconvergence = meeting.reconvergence;
        take(w, {meeting.resume, meeting.reconvergence, waiting, w.depth});
        return;
      }
    }
    if (siblings != 0) {
      w.rotated = true;
      next_sibling(w, first);
      if (w.active != 0) return;
      continue;
    }
    if (!has_meeting) return;
    leave_branch(w, first);
  }
}

std::uint32_t lanes_at(const Record* record, const Warp& w) {
  const auto here = static_cast<std::uint32_t>(record - w.records);
  std::uint32_t lanes = w.active;
  for (std::uint32_t i = first_path(w); i < w.stack_size; ++i) {
    if (w.stack[i].resume == here) lanes |= w.stack[i].mask & w.live;
  }
  return lanes;
}

void join_paths(Warp& w) {
  w.active = w.exec = w.live;
  w.stack_size = first_path(w);
  w.reconvergence = kNoBlock;
  w.rotated = false;
  w.waits = 0;
}

const Record* wait_for_paths(const Record* record, Warp& w) {
  // As long as some path can still move, time passes between waits.
  if (w.waited_at != w.time) w.waits = 0;
  w.waited_at = w.time;
  ++w.waits;
  w.resume = record;
  if (w.rotated) {
    if (w.waits > 2U * kWarpLanes) return nullptr;
    rotate_paths(w);
    return w.resume;
  }
  const std::uint32_t base = first_path(w);
  while (true) {
    std::uint32_t first = w.stack_size;
    std::uint32_t running = w.active;
    std::uint32_t siblings = 0;
    while (first > base && w.stack[first - 1].reconvergence == w.reconvergence) {
      --first;
      const std::uint32_t mask = w.stack[first].mask & w.live & ~running;
      if (mask != 0) ++siblings;
      running |= mask;
    }
    if (w.waits <= siblings) {
      do {
        next_sibling(w, first);
      } while (w.active == 0);
      return w.resume;
    }
    // All of them wait. Paths of a branch around this one may come.
    if (!outer_path_may_move(w, first, running)) return nullptr;
    leave_branch(w, first);
    w.waits = 1;
  }
}

const Record* gather_paths(const Record* record, Warp& w) {
  if (lanes_at(record, w) == w.live) {
    join_paths(w);
    return record;
  }
  return wait_for_paths(record, w);
}

}  // namespace regraph::ptx
