// Handlers that stand before the usual ones while races are looked for.
#include "ptx/execute/checked_handlers.h"

#include "ptx/decode/atomic_operation.h"
#include "ptx/execute/path_rotation.h"
#include "ptx/memory/race_detector.h"

namespace regraph::ptx {
namespace {

const Record* checked_access(const Record* r, Warp& w) {
  const bool is_atomic = r->handler_id < kArithmeticHandlers;
  const bool narrow = is_atomic
                          ? (r->flags & kAtomicNarrowAddress) != 0
                          : (r->handler_id - kArithmeticHandlers) / (kMemoryTypes * 3) % 2 == 1;
  std::uint64_t addresses[kWarpLanes];
  for (int l = 0; l < kWarpLanes; ++l) {
    addresses[l] = (narrow ? lanes<std::uint32_t>(w, r->a)[l] : lanes<std::uint64_t>(w, r->a)[l]) +
                   static_cast<std::uint64_t>(r->immediate);
  }
  const SiteInfo& site = w.block->code->sites[r->site];
  if (site.space != StateSpace::local && site.space != StateSpace::constant &&
      site.space != StateSpace::parameter && !w.block->races->access(*r, w, site, addresses)) {
    return nullptr;
  }
  return w.block->handlers[r->handler_id](r, w);
}

const Record* checked_sync_warp(const Record* r, Warp& w) {
  w.block->races->sync_warp(w);
  return w.block->handlers[r->handler_id](r, w);
}

// Lanes exchange values: those that rotation separated come together first.
const Record* checked_exchange(const Record* r, Warp& w) {
  if (w.rotated && w.exec == w.active && w.active != w.live) {
    const Record* next = gather_paths(r, w);
    if (next != nullptr && next != r) return next;
  }
  if (w.block->races != nullptr) w.block->races->exchange_lanes(w);
  return w.block->handlers[r->handler_id](r, w);
}

const Record* checked_fence(const Record* r, Warp& w) {
  w.block->races->fence(w);
  return r + 1;
}

}  // namespace

Handler checked_handler(const Record& record, Handler usual, bool races, bool may_spin) {
  const auto operation = static_cast<Operation>(record.handler_id / kLaneTypes);
  const bool exchanges = record.handler_id < kArithmeticHandlers &&
                         operation >= Operation::shuffle_up && operation <= Operation::elect &&
                         operation != Operation::active_mask;
  if (exchanges && (races || may_spin)) return &checked_exchange;
  if (!races) return usual;
  if (record.handler_id >= kArithmeticHandlers || operation == Operation::atomic) {
    return &checked_access;
  }
  if (operation == Operation::sync_warp) return &checked_sync_warp;
  return operation == Operation::fence ? &checked_fence : usual;
}

}  // namespace regraph::ptx
