#include "ptx/execute/path_rotation.h"

#include "ptx/execute/reconvergence_stack.h"
#include "ptx/memory/block_context.h"

#include <algorithm>

namespace regraph::ptx {
namespace {

std::uint32_t base_of(const Warp& w) {
  return w.depth == 0 ? 0 : w.calls->frames.back().stack_base;
}

void take(Warp& w, const StackEntry& entry) {
  w.active = w.exec = entry.mask & w.live;
  w.reconvergence = entry.reconvergence;
  w.resume = w.records + entry.resume;
}

StackEntry current_path(const Warp& w, const Record* at) {
  return {static_cast<std::uint32_t>(at - w.records), w.reconvergence, w.active, w.depth};
}

}  // namespace

void rotate_paths(Warp& w) {
  const std::uint32_t base = base_of(w);
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
      const StackEntry current = current_path(w, w.resume);
      // The top path runs next; this one goes below its siblings.
      std::rotate(w.stack + first, w.stack + w.stack_size - 1, w.stack + w.stack_size);
      const StackEntry next = w.stack[first];
      w.stack[first] = current;
      take(w, next);
      if (w.active != 0) return;
      continue;
    }
    if (!has_meeting) return;
    // Nobody waits at the meeting place any more: it is none.
    w.reconvergence = w.stack[first - 1].reconvergence;
    std::copy(w.stack + first, w.stack + w.stack_size, w.stack + first - 1);
    --w.stack_size;
  }
}

const Record* gather_paths(const Record* record, Warp& w) {
  const auto here = static_cast<std::uint32_t>(record - w.records);
  const std::uint32_t base = base_of(w);
  for (std::uint32_t i = base; i < w.stack_size;) {
    StackEntry& entry = w.stack[i];
    if (entry.resume == here && (entry.mask & w.live & ~w.active) != 0) {
      w.active |= entry.mask & w.live;
      std::copy(w.stack + i + 1, w.stack + w.stack_size, w.stack + i);
      --w.stack_size;
    } else {
      ++i;
    }
  }
  w.exec = w.active;
  if (w.active == w.live) {  // nobody is elsewhere
    w.stack_size = base;
    w.reconvergence = kNoBlock;
    w.waits = 0;
    return record;
  }
  // As long as some path can still move, time passes between waits.
  if (w.waited_at != w.time) w.waits = 0;
  w.waited_at = w.time;
  if (++w.waits > 2U * kWarpLanes) return nullptr;
  w.resume = record;
  rotate_paths(w);
  return w.resume;
}

}  // namespace regraph::ptx
