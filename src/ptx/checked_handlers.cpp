// Handlers that stand before the usual ones while races are looked for.
#include "ptx/checked_handlers.h"

#include "ptx/atomic_operation.h"
#include "ptx/race_detector.h"

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
  return r + 1;
}

const Record* checked_exchange(const Record* r, Warp& w) {
  w.block->races->exchange_lanes(w);
  return w.block->handlers[r->handler_id](r, w);
}

const Record* checked_fence(const Record* r, Warp& w) {
  w.block->races->fence(w);
  return r + 1;
}

}  // namespace

Handler checked_handler(const Record& record, Handler usual) {
  if (record.handler_id >= kArithmeticHandlers) return &checked_access;
  const auto operation = static_cast<Operation>(record.handler_id / kLaneTypes);
  if (operation >= Operation::shuffle_up && operation <= Operation::elect &&
      operation != Operation::active_mask) {
    return &checked_exchange;
  }
  switch (operation) {
    case Operation::atomic:
      return &checked_access;
    case Operation::sync_warp:
      return &checked_sync_warp;
    case Operation::fence:
      return &checked_fence;
    default:
      return usual;
  }
}

}  // namespace regraph::ptx
