// mbarriers: objects in shared memory that count arrivals and bytes. A warp whose test fails gives
// the others their turn.
#include "ptx/execute/mbarrier_handlers.h"

#include "ptx/memory/race_detector.h"

#include <cstring>
#include <string>

namespace regraph::ptx {
namespace {

using Word = std::uint32_t;

constexpr std::uint64_t kBytes = 8;

const Record* mbarrier_fault(const Record* r, Warp& w, int lane, const std::string& what) {
  w.block->set_fault(FaultKind::trap, what, r, w, lane);
  w.status = WarpStatus::faulted;
  w.last = r;
  return nullptr;
}

// The lane's mbarrier in shared memory. Null after a fault; `address` loses its window.
std::byte* find_mbarrier(const Record* r, Warp& w, int lane, std::uint64_t& address) {
  if ((address & kWindowMask) == kSharedWindow) address &= ~kWindowMask;
  const LaneAddress found = find_lane(*w.block, w, StateSpace::shared, address, kBytes, lane);
  if (found.host != nullptr && address % kBytes == 0) return found.host;
  set_access_fault(r, w, StateSpace::shared, true, address, kBytes, lane);
  return nullptr;
}

std::optional<Mbarrier> read_mbarrier(const std::byte* host) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, host, kBytes);
  return Mbarrier::from_bits(bits);
}

void write_mbarrier(std::byte* host, std::uint64_t bits) {
  std::memcpy(host, &bits, kBytes);
}

constexpr std::int32_t kMostTransactionBytes = (1 << 20) - 1;

// What happens to an mbarrier: arrivals, and changes of the bytes that are missing.
struct Change {
  std::uint32_t arrivals = 0;
  std::int64_t bytes = 0;
  bool drops = false;
  bool may_complete = true;
};

// Says what is wrong; null when nothing is.
const char* apply(Mbarrier& barrier, const Change& change, bool* ended) {
  if (change.arrivals > barrier.pending || (change.drops && change.arrivals > barrier.expected))
    return "more threads arrive at an mbarrier than it expects";
  const std::int64_t bytes = barrier.bytes + change.bytes;
  if (bytes > kMostTransactionBytes || bytes < -kMostTransactionBytes)
    return "more bytes than an mbarrier can count";
  barrier.pending -= change.arrivals;
  if (change.drops) barrier.expected -= change.arrivals;
  barrier.bytes = static_cast<std::int32_t>(bytes);
  *ended = barrier.end_phase();
  if (*ended && !change.may_complete) return "an arrival with .noComplete ends the phase";
  return nullptr;
}

Change change_of(const Record* r, MbarrierAction action, Word value) {
  Change change;
  change.drops = (r->flags & kMbarrierDrops) != 0;
  change.may_complete = action != MbarrierAction::arrive_incomplete;
  switch (action) {
    case MbarrierAction::expect_bytes:
      change.bytes = value;
      break;
    case MbarrierAction::complete_bytes:
      change.bytes = -std::int64_t{value};
      break;
    case MbarrierAction::arrive_expecting:
      change.arrivals = 1;
      change.bytes = value;
      break;
    default:
      change.arrivals = value;
  }
  return change;
}

// One lane's action on the mbarrier at `host`. False after a fault.
bool act(const Record* r, Warp& w, int l, std::uint64_t address, std::byte* host) {
  const auto action = static_cast<MbarrierAction>(r->e);
  RaceDetector* races = w.block->races;
  const Word value = r->b == 0 ? 0 : lanes<Word>(w, r->b)[l];
  ++w.block->progress;
  if (action == MbarrierAction::init) {
    if (value == 0 || value > Mbarrier::kMostArrivals)
      return mbarrier_fault(r, w, l, "an mbarrier of " + std::to_string(value) + " arrivals");
    write_mbarrier(host, Mbarrier{value, value, 0, false}.to_bits());
    return true;
  }
  auto barrier = read_mbarrier(host);
  if (!barrier)
    return mbarrier_fault(r, w, l, "there is no mbarrier at this address, or none any more");
  if (action == MbarrierAction::invalidate) {
    write_mbarrier(host, 0);
    return true;
  }
  const bool arrives = action >= MbarrierAction::arrive;
  if (arrives && action != MbarrierAction::copies_arrive && value == 0 &&
      action != MbarrierAction::arrive_expecting) {
    return mbarrier_fault(r, w, l, "an arrival of nobody");
  }
  if (r->d != 0) lanes<std::uint64_t>(w, r->d)[l] = barrier->to_bits();
  if (arrives && races != nullptr && (r->flags & kMbarrierRelaxed) == 0)
    races->arrive_at(address, w);
  bool ended = false;
  const Change change = change_of(r, action, value);
  if (change.arrivals != 0 || change.bytes != 0) {
    if (const char* what = apply(*barrier, change, &ended); what != nullptr)
      return mbarrier_fault(r, w, l, what);
  }
  write_mbarrier(host, barrier->to_bits());
  if (ended && races != nullptr) races->complete_phase(address);
  return true;
}

const Record* mbarrier(const Record* r, Warp& w) {
  const auto action = static_cast<MbarrierAction>(r->e);
  const bool tests = action == MbarrierAction::test || action == MbarrierAction::test_parity;
  RaceDetector* races = w.block->races;
  Word passed = 0;
  for (Word rest = w.exec; rest != 0; rest &= rest - 1) {
    const int l = __builtin_ctz(rest);
    std::uint64_t address = (r->flags & kMbarrierNarrowAddress) != 0
                                ? lanes<Word>(w, r->a)[l]
                                : lanes<std::uint64_t>(w, r->a)[l];
    address += static_cast<std::uint64_t>(r->immediate);
    std::byte* host = find_mbarrier(r, w, l, address);
    if (host == nullptr) return nullptr;
    const bool initialises = action == MbarrierAction::init || action == MbarrierAction::invalidate;
    if (races != nullptr && !races->use_mbarrier(*r, w, l, address, initialises)) return nullptr;
    if (!tests) {
      if (!act(r, w, l, address, host)) return nullptr;
      continue;
    }
    const auto barrier = read_mbarrier(host);
    if (!barrier)
      return mbarrier_fault(r, w, l, "there is no mbarrier at this address, or none any more");
    const bool phase = action == MbarrierAction::test_parity
                           ? (lanes<Word>(w, r->b)[l] & 1U) != 0
                           : lanes<std::uint64_t>(w, r->b)[l] >> 63 != 0;
    if (barrier->phase == phase) continue;
    passed |= 1U << l;
    if (races != nullptr && (r->flags & kMbarrierRelaxed) == 0) races->pass_mbarrier(address, w);
  }
  if (!tests) return r + 1;
  Word& p = predicate(w, r->d);
  p = (p & ~w.exec) | passed;
  if (passed != 0) ++w.block->progress;
  if (passed != w.exec) {  // at the next block of code
    w.yields = true;
    w.quantum = 0;
  }
  return r + 1;
}

}  // namespace

bool complete_bytes(const Record* r, Warp& w, int lane, std::uint64_t address,
                    std::uint64_t bytes) {
  std::byte* host = find_mbarrier(r, w, lane, address);
  if (host == nullptr) return false;
  RaceDetector* races = w.block->races;
  if (races != nullptr && !races->use_mbarrier(*r, w, lane, address, false)) return false;
  auto barrier = read_mbarrier(host);
  if (!barrier) {
    mbarrier_fault(r, w, lane, "there is no mbarrier at this address, or none any more");
    return false;
  }
  if (races != nullptr) races->copied_to(address);
  bool ended = false;
  Change change;
  change.bytes = -static_cast<std::int64_t>(bytes);
  if (const char* what = apply(*barrier, change, &ended); what != nullptr) {
    mbarrier_fault(r, w, lane, what);
    return false;
  }
  write_mbarrier(host, barrier->to_bits());
  if (ended && races != nullptr) races->complete_phase(address);
  ++w.block->progress;
  return true;
}

void fill_mbarrier_handlers(Handler* table) {
  put(table, Operation::mbarrier, &mbarrier);
}

}  // namespace regraph::ptx
