// Block heads, branches over the reconvergence stack, barriers and exits.
#include "ptx/execute/path_rotation.h"
#include "ptx/execute/reconvergence_stack.h"
#include "ptx/memory/block_context.h"

namespace regraph::ptx {
namespace {

// First record of a basic block: lanes that diverged before it wait here for the others.
const Record* block_head(const Record* r, Warp& w) {
  const std::uint32_t block = r->target;
  if (w.reconvergence == block) return pop(w);
  w.block_warps[block] += 1;
  w.block_threads[block] +=
      w.active == kFullMask ? kWarpLanes : static_cast<std::uint64_t>(__builtin_popcount(w.active));
  w.time += r->immediate;
  w.quantum -= r->immediate;
  if (w.quantum < 0) [[unlikely]] {
    w.resume = r + 1;
    w.last = r;
    w.status = WarpStatus::ready;
    return nullptr;
  }
  return r + 1;
}

const Record* branch(const Record* r, Warp& w) {
  return w.records + r->target;
}

// r->b: the reconvergence block; r->c: its first record. The fall-through path follows the record.
const Record* branch_if(const Record* r, Warp& w) {
  const std::uint32_t condition = predicate(w, r->a) ^ (r->flags == kNegated ? kFullMask : 0U);
  const std::uint32_t taken = w.active & condition;
  if (taken == w.active) return w.records + r->target;
  if (taken == 0) return r + 1;
  const std::uint32_t rest = w.active & ~condition;
  const std::uint32_t meeting = r->b;
  const auto next = static_cast<std::uint32_t>(r + 1 - w.records);
  if (meeting != w.reconvergence && meeting != kNoBlock) {
    push(w, r->c, w.reconvergence, w.active);
  }
  const bool meets = meeting != kNoBlock;
  w.reconvergence = meeting;
  if (meets && r->target == r->c) {
    w.active = w.exec = rest;
    return r + 1;
  }
  w.active = w.exec = taken;
  if (!meets || next != r->c) push(w, next, meeting, rest);
  return w.records + r->target;
}

// brx.idx: r->a is the index register, the targets are the r->d records that follow.
const Record* branch_indexed(const Record* r, Warp& w) {
  const auto* index = lanes<std::uint32_t>(w, r->a);
  const std::uint32_t meeting = r->b;
  std::uint32_t rest = w.active;
  if (meeting != w.reconvergence && meeting != kNoBlock) {
    push(w, r->c, w.reconvergence, w.active);
  }
  w.reconvergence = meeting;
  while (rest != 0) {
    const std::uint32_t choice = index[__builtin_ctz(rest)];
    std::uint32_t group = 0;
    for (int l = 0; l < kWarpLanes; ++l) {
      if (((rest >> l) & 1U) != 0 && index[l] == choice) group |= 1U << l;
    }
    if (choice >= r->d) {
      w.block->set_fault(FaultKind::trap, "brx.idx takes an index beyond its table", r, w,
                         __builtin_ctz(rest));
      w.status = WarpStatus::faulted;
      w.last = r;
      return nullptr;
    }
    rest &= ~group;
    push(w, r[1 + choice].target, meeting, group);
  }
  return pop(w);
}

const Record* exit_lanes(const Record* r, Warp& w) {
  w.live &= ~w.exec;
  w.active &= ~w.exec;
  if (w.active != 0) {
    w.exec = w.active;
    return r + 1;
  }
  w.last = r;
  return pop(w);
}

const Record* guard_begin(const Record* r, Warp& w) {
  w.exec = w.active & (predicate(w, r->a) ^ (r->flags == kNegated ? kFullMask : 0U));
  if (w.exec == 0) {
    w.exec = w.active;
    return w.records + r->target;
  }
  w.guard_warps[r->site] += 1;
  w.guard_threads[r->site] += static_cast<std::uint64_t>(__builtin_popcount(w.exec));
  return r + 1;
}
const Record* guard_end(const Record* r, Warp& w) {
  w.exec = w.active;
  return r + 1;
}

// Inside one instruction, and inside its guard: the lanes of predicate a alone go on.
const Record* narrow_lanes(const Record* r, Warp& w) {
  predicate(w, r->d) = w.exec;
  const std::uint32_t mask =
      w.exec & (predicate(w, r->a) ^ (r->flags == kNegated ? kFullMask : 0U));
  if (mask == 0) return w.records + r->target;
  w.exec = mask;
  return r + 1;
}
const Record* restore_lanes(const Record* r, Warp& w) {
  w.exec = predicate(w, r->d);
  return r + 1;
}

const Record* nothing(const Record* r, Warp& /*w*/) {
  return r + 1;
}

// r->a: barrier number, r->b: thread count (0 lanes of value 0 mean the whole block).
bool arrive(const Record* r, Warp& w) {
  const int lane = __builtin_ctz(w.exec);
  const bool of_cluster = r->flags == kOfCluster;
  w.barrier = of_cluster ? kClusterBarrier : lanes<std::uint32_t>(w, r->a)[lane];
  w.barrier_threads = r->b != 0 ? lanes<std::uint32_t>(w, r->b)[lane] : 0;
  w.barrier_lanes = w.exec;
  w.last = r;
  if ((w.barrier >= kClusterBarrier && !of_cluster) || w.barrier_threads % kWarpLanes != 0) {
    w.block->set_fault(FaultKind::trap,
                       "a barrier number beyond 15 or a partial warp's thread count", r, w, lane);
    w.status = WarpStatus::faulted;
    return false;
  }
  // bar.sync is executed by whole warps: lanes that took another path would never arrive here.
  if (w.exec != w.live) {
    const int missing = __builtin_ctz(w.live & ~w.exec);
    w.block->set_fault(FaultKind::barrier_divergence,
                       "threads of one warp reach a barrier on different paths: this thread is not "
                       "at the barrier that others of its warp wait at",
                       r, w, missing);
    w.status = WarpStatus::faulted;
    return false;
  }
  return true;
}
const Record* barrier(const Record* r, Warp& w) {
  // Lanes that come on different paths wait for each other.
  if (w.exec == w.active && w.active != w.live) [[unlikely]] {
    const Record* next = gather_paths(r, w);
    if (next != nullptr && next != r) return next;
  }
  if (arrive(r, w)) {
    w.status = WarpStatus::at_barrier;
    w.resume = r + 1;
  }
  return nullptr;
}

}  // namespace

void fill_control_handlers(Handler* table) {
  put(table, Operation::block_head, &block_head);
  put(table, Operation::branch, &branch);
  put(table, Operation::branch_if, &branch_if);
  put(table, Operation::branch_indexed, &branch_indexed);
  put(table, Operation::exit_lanes, &exit_lanes);
  put(table, Operation::guard_begin, &guard_begin);
  put(table, Operation::guard_end, &guard_end);
  put(table, Operation::narrow_lanes, &narrow_lanes);
  put(table, Operation::restore_lanes, &restore_lanes);
  put(table, Operation::nothing, &nothing);
  put(table, Operation::fence, &nothing);
  put(table, Operation::barrier, &barrier);
  put(table, Operation::barrier_reduce, &barrier);
  put(table, Operation::barrier_arrive, &barrier);
}

}  // namespace regraph::ptx
