#include "ptx/execute/lane_meeting.h"

#include "ptx/execute/path_rotation.h"
#include "ptx/execute/reconvergence_stack.h"
#include "ptx/memory/block_context.h"
#include "ptx/memory/race_detector.h"

#include <algorithm>

namespace regraph::ptx {
namespace {

Operation operation_of(const Record& record) {
  return static_cast<Operation>(record.handler_id / kLaneTypes);
}

bool is_barrier(const Record& record) {
  const Operation operation = operation_of(record);
  return operation == Operation::barrier || operation == Operation::barrier_reduce ||
         operation == Operation::barrier_arrive;
}

// The mask that a lane names.
std::uint32_t members_of(const Record* r, Warp& w, int lane) {
  if ((r->flags & (kAllMembers | kNoMembers)) != 0) return kFullMask;
  return lanes<std::uint32_t>(w, static_cast<std::uint32_t>(r->immediate))[lane];
}

// Hands every set of `lanes` that name the same mask to `visit(mask, set)`.
template <typename Visit>
void for_each_group(const Record* r, Warp& w, std::uint32_t lanes, Visit visit) {
  while (lanes != 0) {
    const std::uint32_t mask = members_of(r, w, __builtin_ctz(lanes));
    std::uint32_t group = 0;
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      if (members_of(r, w, lane) == mask) group |= 1U << lane;
    }
    lanes &= ~group;
    visit(mask, group);
  }
}

void exchange_in_groups(const Record* r, Warp& w, std::uint32_t lanes, Handler exchange) {
  RaceDetector* races = w.block->races;
  if (races != nullptr) {
    if (operation_of(*r) == Operation::sync_warp) {
      races->sync_warp(w);
    } else {
      races->exchange_lanes(w);
    }
  }
  for_each_group(r, w, lanes, [&](std::uint32_t, std::uint32_t group) {
    w.exec = group;
    (void)exchange(r, w);
  });
}

// The lanes `done` of paths that were suspended at `r` go on behind it, wherever these stand.
void advance(const Record* r, Warp& w, std::uint32_t done) {
  const auto here = static_cast<std::uint32_t>(r - w.records);
  const std::uint32_t base = first_path(w);
  std::uint32_t first = w.stack_size;
  while (first > base && w.stack[first - 1].reconvergence == w.reconvergence)
    --first;
  for (std::uint32_t i = w.stack_size; i-- > base;) {
    StackEntry& entry = w.stack[i];
    const std::uint32_t gone = entry.mask & w.live & done;
    if (entry.resume != here || gone == 0) continue;
    const std::uint32_t left = entry.mask & w.live & ~done;
    if (i >= first) {  // a sibling: one path with the running one from now on
      w.active |= gone;
      entry.mask = left;
      if (left != 0) continue;
      std::copy(w.stack + i + 1, w.stack + w.stack_size, w.stack + i);
      --w.stack_size;
      continue;
    }
    if (left != 0) {
      StackEntry behind = entry;
      behind.mask = left;
      std::copy_backward(w.stack + i, w.stack + w.stack_size, w.stack + w.stack_size + 1);
      ++w.stack_size;
      w.stack[i] = behind;
      ++first;
    }
    StackEntry& moved = w.stack[left != 0 ? i + 1 : i];
    moved.mask = gone;
    moved.resume = here + 1;
  }
}

// A path with lanes that active ones name, and that waits at a barrier; null when there is none.
const StackEntry* named_at_barrier(const Record* r, Warp& w) {
  std::uint32_t named = 0;
  for (std::uint32_t rest = w.active; rest != 0; rest &= rest - 1)
    named |= members_of(r, w, __builtin_ctz(rest));
  for (std::uint32_t i = first_path(w); i < w.stack_size; ++i) {
    const StackEntry& entry = w.stack[i];
    if ((entry.mask & w.live & named) != 0 && is_barrier(w.records[entry.resume])) return &entry;
  }
  return nullptr;
}

// No path can move. The one that stands first in the code goes on without the lanes it names.
const Record* give_up(const Record* r, Warp& w) {
  if (!w.rotated) {
    if (const StackEntry* entry = named_at_barrier(r, w); entry != nullptr) {
      w.block->set_fault(FaultKind::barrier_divergence,
                         "this thread waits at a barrier for threads of its warp that wait for it "
                         "at an exchange between lanes",
                         w.records + entry->resume, w, __builtin_ctz(entry->mask & w.live));
      w.status = WarpStatus::faulted;
      w.last = r;
      return nullptr;
    }
    StackEntry* earliest = nullptr;
    const std::uint32_t base = first_path(w);
    for (std::uint32_t i = w.stack_size;
         i-- > base && w.stack[i].reconvergence == w.reconvergence;) {
      StackEntry& entry = w.stack[i];
      const Record* at = w.records + entry.resume;
      if ((entry.mask & w.live) == 0 || at >= r || !exchanges_lanes(*at)) continue;
      if (earliest == nullptr || entry.resume < earliest->resume) earliest = &entry;
    }
    if (earliest != nullptr) {
      const StackEntry next = *earliest;
      *earliest = {static_cast<std::uint32_t>(r - w.records), w.reconvergence, w.active, w.depth};
      w.active = w.exec = next.mask & w.live;
      r = w.records + next.resume;
    }
  }
  w.gives_up = true;
  return r;
}

}  // namespace

bool exchanges_lanes(const Record& record) {
  if (record.handler_id >= kArithmeticHandlers) return false;
  const Operation operation = operation_of(record);
  return operation == Operation::sync_warp ||
         (operation >= Operation::shuffle_up && operation <= Operation::elect &&
          operation != Operation::active_mask);
}

const Record* exchange_apart(const Record* r, Warp& w, Handler exchange) {
  // Lanes of this path that a guard keeps out pass by: nobody can wait for them.
  if (w.exec != w.active || (r->flags & kNoMembers) != 0) {
    const std::uint32_t lanes = w.exec;
    exchange_in_groups(r, w, lanes, exchange);
    w.exec = lanes;
    return r + 1;
  }
  const std::uint32_t here = lanes_at(r, w);
  if (here == w.live && here != w.active) join_paths(w);
  std::uint32_t ready = 0;
  for_each_group(r, w, here, [&](std::uint32_t mask, std::uint32_t group) {
    if ((mask & w.live & ~group) == 0) ready |= group;
  });
  if (w.gives_up) ready |= w.active;
  w.gives_up = false;
  const std::uint32_t waiting = w.active & ~ready;
  if (waiting == w.active) {
    const Record* next = wait_for_paths(r, w);
    return next != nullptr ? next : give_up(r, w);
  }
  exchange_in_groups(r, w, ready, exchange);
  if (waiting != 0) push(w, static_cast<std::uint32_t>(r - w.records), w.reconvergence, waiting);
  w.active &= ready;
  advance(r, w, ready);
  w.exec = w.active;
  w.waits = 0;
  return r + 1;
}

}  // namespace regraph::ptx
