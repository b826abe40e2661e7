// cp.async.bulk: copied where the thread asks for it. Whoever reads too early, or overwrites too
// early what is copied, is seen by the race detector alone. Global memory is accessed, for counters
// and caches, as a warp would that copies 16 bytes a lane.
#include "ptx/address_log.h"
#include "ptx/execute/mbarrier_handlers.h"
#include "ptx/memory/race_detector.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace regraph::ptx {
namespace {

using Word = std::uint32_t;

constexpr std::uint64_t kUnit = 16;

std::uint64_t address_of(Warp& w, const NamedAddress& named, int l) {
  const std::uint64_t base =
      named.narrow ? lanes<Word>(w, named.offset)[l] : lanes<std::uint64_t>(w, named.offset)[l];
  return base + static_cast<std::uint64_t>(named.displacement);
}

// One lane's copy.
class LaneCopy {
 public:
  LaneCopy(const Record* record, Warp& warp, int lane)
      : record_(record), warp_(warp), lane_(lane), copy_(warp.block->code->bulk_copies[record->e]) {
    global_ = address_of(warp, copy_.global, lane);
    shared_ = address_of(warp, copy_.shared, lane);
    if ((shared_ & kWindowMask) == kSharedWindow) shared_ &= ~kWindowMask;
    size_ = lanes<Word>(warp, copy_.size)[lane];
  }

  // False after setting a fault.
  bool run() {
    if (size_ % kUnit != 0) {
      warp_.block->set_fault(
          FaultKind::misaligned,
          "a bulk copy of " + std::to_string(size_) + " bytes, which is no multiple of 16", record_,
          warp_, lane_);
      return stop();
    }
    if (size_ == 0) return finish();
    std::byte* global = find(StateSpace::global, global_, !copy_.to_shared);
    if (global == nullptr) return stop();
    access_global();
    if ((record_->flags & kBulkCopies) == 0) return true;
    std::byte* shared = find(StateSpace::shared, shared_, copy_.to_shared);
    if (shared == nullptr) return stop();
    if (!copy_.to_shared && warp_.block->writes != nullptr)
      warp_.block->writes->add(global_, size_);
    if (!check_races(global, shared)) return false;
    std::memcpy(copy_.to_shared ? shared : global, copy_.to_shared ? global : shared, size_);
    return finish();
  }

 private:
  bool stop() {
    warp_.status = WarpStatus::faulted;
    warp_.last = record_;
    return false;
  }

  bool finish() {
    if (!copy_.to_shared || (record_->flags & kBulkCopies) == 0) return true;
    return complete_bytes(record_, warp_, lane_, address_of(warp_, copy_.mbarrier, lane_), size_);
  }

  std::byte* find(StateSpace space, std::uint64_t address, bool store) {
    const LaneAddress found = find_lane(*warp_.block, warp_, space, address, size_, lane_);
    const bool may = found.host != nullptr && (!store || found.region->writable);
    if (may && address % kUnit == 0) return found.host;
    // A fault about one piece names what is wrong with it: the first that is.
    for (std::uint64_t at = address; at < address + size_; at += kUnit) {
      const LaneAddress piece = find_lane(*warp_.block, warp_, space, at, kUnit, lane_);
      if (piece.host != nullptr && at % kUnit == 0 && (!store || piece.region->writable)) continue;
      set_access_fault(record_, warp_, space, store, at, kUnit, lane_);
      return nullptr;
    }
    set_access_fault(record_, warp_, space, store, address, size_, lane_);
    return nullptr;
  }

  // As a warp of its own would access it: nothing here can fail any more.
  void access_global() {
    Record piece = *record_;
    piece.handler_id = handler_id(Operation::trace_access, LaneType::u64);
    piece.a = copy_.addresses;
    piece.immediate = 0;
    AccessSite& site = warp_.sites[record_->site];
    std::uint64_t* addresses = lanes<std::uint64_t>(warp_, copy_.addresses);
    const Word exec = warp_.exec;
    constexpr std::uint64_t kPiece = kUnit * kWarpLanes;
    for (std::uint64_t at = 0; at < size_; at += kPiece) {
      const std::uint64_t count = std::min(size_ - at, kPiece) / kUnit;
      for (std::uint64_t l = 0; l < kWarpLanes; ++l)
        addresses[l] = global_ + at + kUnit * std::min(l, count - 1);
      warp_.exec = count == kWarpLanes ? kFullMask : (1U << count) - 1U;
      ScatteredLanes scattered;
      (void)resolve_access(&piece, warp_, site, addresses, scattered);
      if ((record_->flags & kBulkReports) != 0) report_access(&piece, warp_, site);
    }
    warp_.exec = exec;
  }

  bool check_races(const std::byte* global, const std::byte* shared) {
    RaceDetector* races = warp_.block->races;
    if (races == nullptr) return true;
    std::uint64_t mbarrier = copy_.to_shared ? address_of(warp_, copy_.mbarrier, lane_) : 0;
    if ((mbarrier & kWindowMask) == kSharedWindow) mbarrier &= ~kWindowMask;
    const std::uint32_t agent =
        copy_.to_shared ? races->agent_of(mbarrier) : RaceDetector::store_agent(warp_);
    const auto access = [&](StateSpace space, std::uint64_t address, const std::byte* values) {
      return races->asynchronous(*record_, warp_, lane_, agent, space, address, size_, values);
    };
    return access(StateSpace::global, global_, copy_.to_shared ? nullptr : shared) &&
           access(StateSpace::shared, shared_, copy_.to_shared ? global : nullptr);
  }

  const Record* record_;
  Warp& warp_;
  int lane_;
  const BulkCopy& copy_;
  std::uint64_t global_ = 0;
  std::uint64_t shared_ = 0;
  std::uint64_t size_ = 0;
};

const Record* bulk_copy(const Record* r, Warp& w) {
  for (Word rest = w.exec; rest != 0; rest &= rest - 1) {
    if (!LaneCopy(r, w, __builtin_ctz(rest)).run()) return nullptr;
  }
  return r + 1;
}

}  // namespace

void fill_bulk_copy_handlers(Handler* table) {
  put(table, Operation::bulk_copy, &bulk_copy);
}

}  // namespace regraph::ptx
