// The stack of paths that wait while others of the same warp run.
#pragma once

#include "ptx/decode/execution.h"

namespace regraph::ptx {

// Leaves functions until `depth` calls are left: frames and saved registers come back.
// (call_handlers.cpp)
void unwind_calls(Warp& warp, std::uint32_t depth);

inline void push(Warp& w, std::uint32_t resume, std::uint32_t reconvergence, std::uint32_t mask) {
  w.stack[w.stack_size++] = StackEntry{resume, reconvergence, mask, w.depth};
}

// Continues the innermost waiting path that still has live lanes; null when there is none.
inline const Record* pop(Warp& w) {
  while (w.stack_size > 0) {
    const StackEntry entry = w.stack[--w.stack_size];
    const std::uint32_t mask = entry.mask & w.live;
    if (mask == 0) continue;
    if (entry.depth != w.depth) [[unlikely]]
      unwind_calls(w, entry.depth);
    w.active = mask;
    w.exec = mask;
    w.reconvergence = entry.reconvergence;
    return w.records + entry.resume;
  }
  w.active = 0;
  w.exec = 0;
  w.status = WarpStatus::finished;
  return nullptr;
}

}  // namespace regraph::ptx
