#include "ptx/execute/watched_handlers.h"

#include "ptx/address_log.h"
#include "ptx/decode/atomic_operation.h"
#include "ptx/execute/lane_meeting.h"
#include "ptx/memory/race_detector.h"

namespace regraph::ptx {
namespace {

// What every lane addresses, active or not.
void lane_addresses(const Record* r, Warp& w, std::uint64_t* addresses) {
  const bool is_atomic = r->handler_id < kArithmeticHandlers;
  const bool narrow = is_atomic
                          ? (r->flags & kAtomicNarrowAddress) != 0
                          : (r->handler_id - kArithmeticHandlers) / (kMemoryTypes * 3) % 2 == 1;
  for (int l = 0; l < kWarpLanes; ++l) {
    addresses[l] = (narrow ? lanes<std::uint32_t>(w, r->a)[l] : lanes<std::uint64_t>(w, r->a)[l]) +
                   static_cast<std::uint64_t>(r->immediate);
  }
}

const Record* checked_access(const Record* r, Warp& w) {
  std::uint64_t addresses[kWarpLanes];
  lane_addresses(r, w, addresses);
  const SiteInfo& site = w.block->code->sites[r->site];
  if (site.space != StateSpace::local && site.space != StateSpace::constant &&
      site.space != StateSpace::parameter && !w.block->races->access(*r, w, site, addresses)) {
    return nullptr;
  }
  return w.block->handlers[r->handler_id](r, w);
}

// Lanes that are not all there are seen when they have met (exchange_apart).
const Record* checked_sync_warp(const Record* r, Warp& w) {
  if (w.exec == w.live) w.block->races->sync_warp(w);
  return w.block->handlers[r->handler_id](r, w);
}

const Record* checked_exchange(const Record* r, Warp& w) {
  if (w.exec == w.live) w.block->races->exchange_lanes(w);
  return w.block->handlers[r->handler_id](r, w);
}

const Record* checked_fence(const Record* r, Warp& w) {
  w.block->races->fence(w);
  return r + 1;
}

const Record* logged_write(const Record* r, Warp& w) {
  std::uint64_t addresses[kWarpLanes];
  lane_addresses(r, w, addresses);
  const SiteInfo& site = w.block->code->sites[r->site];
  AddressLog& log = *w.block->writes;
  const std::uint64_t bytes = std::uint64_t{site.element_bytes} * site.elements;
  for (std::uint32_t left = w.exec; left != 0; left &= left - 1) {
    std::uint64_t address = addresses[__builtin_ctz(left)];
    if (resolve_address(site.space, address) == StateSpace::global) log.add(address, bytes);
  }
  return w.block->handlers[r->handler_id](r, w);
}

void note_condition(const Record* r, Warp& w, std::uint32_t lanes, std::uint32_t condition) {
  std::uint8_t seen = 0;
  if ((lanes & condition) != 0) seen |= kConditionTrue;
  if ((lanes & ~condition) != 0) seen |= kConditionFalse;
  w.conditions[r->instruction] |= seen;
}

const Record* noted_branch_or_guard(const Record* r, Warp& w) {
  note_condition(r, w, w.active, predicate(w, r->a) ^ (r->flags == kNegated ? kFullMask : 0U));
  return w.block->handlers[r->handler_id](r, w);
}
const Record* noted_select(const Record* r, Warp& w) {
  note_condition(r, w, w.exec, predicate(w, r->c) ^ (r->flags == kNegated ? kFullMask : 0U));
  return w.block->handlers[r->handler_id](r, w);
}

const Record* noted_result(const Record* r, Warp& w) {
  const Record* next = w.block->handlers[r->handler_id](r, w);
  const std::uint32_t result = predicate(w, r->d);
  std::uint8_t seen = 0;
  if ((w.exec & result) != 0) seen |= kResultTrue;
  if ((w.exec & ~result) != 0) seen |= kResultFalse;
  w.conditions[r->instruction] |= seen;
  return next;
}

// The usual handler where nothing has to be noted.
Handler noting_handler(const Record& record, Operation operation, Handler usual,
                       const Watch& watch) {
  if (watch.paths && record.handler_id < kArithmeticHandlers) {
    if (operation == Operation::branch_if || operation == Operation::guard_begin) {
      return &noted_branch_or_guard;
    }
    if (operation == Operation::select) return &noted_select;
    const bool compares = operation >= Operation::equal && operation <= Operation::test_subnormal;
    const bool combines =
        operation >= Operation::predicate_and && operation <= Operation::predicate_xor;
    if (compares || combines) return &noted_result;
  }
  const bool stores = record.handler_id >= kArithmeticHandlers &&
                      record.handler_id >= memory_handler_id(true, false, MemoryType::u8, 0);
  return watch.writes && (stores || operation == Operation::atomic) ? &logged_write : usual;
}

}  // namespace

Handler watched_handler(const Record& record, Handler usual, const Watch& watch) {
  const bool races = watch.races;
  const auto operation = static_cast<Operation>(record.handler_id / kLaneTypes);
  if (races) {
    if (record.handler_id >= kArithmeticHandlers || operation == Operation::atomic) {
      return &checked_access;
    }
    if (operation == Operation::sync_warp) return &checked_sync_warp;
    if (exchanges_lanes(record)) return &checked_exchange;
    if (operation == Operation::fence) return &checked_fence;
  }
  return noting_handler(record, operation, usual, watch);
}

}  // namespace regraph::ptx
