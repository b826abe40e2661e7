// cp.async.bulk: copied where the thread asks for it. Whoever reads too early, or overwrites too
// early what is copied, is seen by the race detector alone. Global memory is accessed, for counters
// and caches, as a warp would that copies 16 bytes a lane.
#include "ptx/address_log.h"
#include "ptx/execute/mbarrier_handlers.h"
#include "ptx/memory/race_detector.h"

#include <algorithm>
#include <array>
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

// `count` pieces of 16 bytes of global memory, as warps of their own would access them. Their
// places are known to be valid.
template <typename PlaceOf>
void access_pieces(const Record* record, Warp& warp, std::uint32_t registers, std::uint64_t count,
                   PlaceOf place_of) {
  Record piece = *record;
  piece.handler_id = handler_id(Operation::trace_access, LaneType::u64);
  piece.a = registers;
  piece.immediate = 0;
  AccessSite& site = warp.sites[record->site];
  site.bulk_bytes += kUnit * count;
  std::uint64_t* addresses = lanes<std::uint64_t>(warp, registers);
  const Word exec = warp.exec;
  for (std::uint64_t at = 0; at < count; at += kWarpLanes) {
    const std::uint64_t some = std::min<std::uint64_t>(count - at, kWarpLanes);
    for (std::uint64_t l = 0; l < kWarpLanes; ++l)
      addresses[l] = place_of(at + std::min(l, some - 1));
    warp.exec = some == kWarpLanes ? kFullMask : (1U << some) - 1U;
    ScatteredLanes scattered;
    (void)resolve_access(&piece, warp, site, addresses, scattered);
    if ((record->flags & kBulkReports) != 0) report_access(&piece, warp, site);
  }
  warp.exec = exec;
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
    access_pieces(record_, warp_, copy_.addresses, size_ / kUnit,
                  [&](std::uint64_t number) { return global_ + number * kUnit; });
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

// One lane's copy of a box of a tensor. What lies outside of the tensor is filled with zeros.
class TensorCopy {
 public:
  TensorCopy(const Record* record, Warp& warp, int lane)
      : record_(record), warp_(warp), lane_(lane), copy_(warp.block->code->bulk_copies[record->e]) {
    shared_ = address_of(warp, copy_.shared, lane);
    if ((shared_ & kWindowMask) == kSharedWindow) shared_ &= ~kWindowMask;
  }

  // False after setting a fault.
  bool run() {
    if (!read_map() || !check_map()) return false;
    line_bytes_ = std::uint64_t{map_.box[0]} * element_bytes_;
    lines_ = 1;
    for (std::size_t d = 1; d < dimensions(); ++d) {
      lines_ *= map_.box[d];
      if (lines_ * line_bytes_ > kMostBytes)
        return stop(FaultKind::trap, "a box of a tensor larger than shared memory");
    }
    if (!find_pieces()) return false;
    access_pieces(record_, warp_, copy_.addresses, places_.size(),
                  [&](std::uint64_t number) { return places_[number]; });
    if ((record_->flags & kBulkCopies) == 0) return true;
    if (!store()) return false;
    return complete_bytes(record_, warp_, lane_, address_of(warp_, copy_.mbarrier, lane_),
                          lines_ * line_bytes_);
  }

 private:
  static constexpr std::uint64_t kMostBytes = 256 << 10;
  static constexpr std::uint32_t kTf32 = 11;

  // To 10 bits of the mantissa, the nearest, of two the even one; NaNs are one, as on an H200.
  static void round_to_tf32(std::byte* values, std::uint64_t bytes) {
    constexpr Word kCut = 13;
    constexpr Word kExponent = 0x7f800000U;
    constexpr Word kMantissa = 0x007fffffU;
    constexpr Word kNan = 0x7fffe000U;
    for (std::uint64_t at = 0; at + sizeof(Word) <= bytes; at += sizeof(Word)) {
      Word bits = 0;
      std::memcpy(&bits, values + at, sizeof(bits));
      if ((bits & kExponent) != kExponent) {
        bits += (1U << (kCut - 1)) - 1 + (bits >> kCut & 1U);
        bits &= ~((1U << kCut) - 1);
      } else if ((bits & kMantissa) != 0) {
        bits = kNan;
      }
      std::memcpy(values + at, &bits, sizeof(bits));
    }
  }

  std::size_t dimensions() const { return static_cast<std::size_t>(copy_.dimensions); }

  bool stop(FaultKind kind, const std::string& what) {
    warp_.block->set_fault(kind, what, record_, warp_, lane_);
    warp_.status = WarpStatus::faulted;
    warp_.last = record_;
    return false;
  }

  bool fault_at(StateSpace space, bool store, std::uint64_t address) {
    set_access_fault(record_, warp_, space, store, address, kUnit, lane_);
    warp_.status = WarpStatus::faulted;
    warp_.last = record_;
    return false;
  }

  bool read_map() {
    const std::uint64_t address = address_of(warp_, copy_.global, lane_);
    for (const MadeTensorMap& made : warp_.block->tensor_maps) {
      if (made.address != address) continue;
      map_ = made.map;
      return true;
    }
    const LaneAddress found =
        find_lane(*warp_.block, warp_, StateSpace::global, address, TensorMap::kBytes, lane_);
    if (found.host == nullptr) return fault_at(StateSpace::global, false, address);
    std::memcpy(&map_, found.host, sizeof(map_));
    return true;
  }

  // What hardware demands of a map, as far as copies here go.
  bool check_map() {
    constexpr std::array<std::uint64_t, 13> kBytes = {1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4};
    constexpr std::uint32_t kMostBox = 256;
    if (map_.last_dimension + 1 != dimensions() || map_.type >= kBytes.size())
      return stop(FaultKind::trap, "the block made no map of such a tensor at this address");
    if (map_.interleave != 0 || map_.fill != 0)
      return stop(FaultKind::unsupported, "a tensor map that is interleaved or fills with NaN");
    element_bytes_ = kBytes[map_.type];
    bool is_aligned = map_.address % kUnit == 0 && map_.box[0] * element_bytes_ % kUnit == 0;
    bool is_possible = map_.swizzle <= 3;
    for (std::size_t d = 0; d < dimensions(); ++d) {
      is_possible = is_possible && map_.box[d] > 0 && map_.box[d] <= kMostBox &&
                    map_.extents[d] > 0 && map_.element_strides[d] == 1;
      if (d > 0) is_aligned = is_aligned && map_.strides[d - 1] % kUnit == 0;
    }
    const std::uint64_t swizzled = map_.swizzle == 0 ? kUnit : kUnit << map_.swizzle;
    if (map_.swizzle != 0 && map_.box[0] * element_bytes_ > swizzled) is_possible = false;
    if (!is_possible) return stop(FaultKind::trap, "a tensor map of impossible boxes");
    constexpr std::uint64_t kSharedAlignment = 128;
    if (!is_aligned || shared_ % kSharedAlignment != 0)
      return stop(FaultKind::misaligned, "a copy of a tensor whose lines are not aligned");
    return true;
  }

  // Where line `number` of the box begins in global memory, and how many of its bytes, from which
  // on, lie in the tensor.
  struct Line {
    std::uint64_t address = 0;
    std::uint64_t first = 0;
    std::uint64_t end = 0;
  };
  Line line(std::uint64_t number) const {
    const auto at = [&](std::size_t d) {
      return std::int64_t{
          static_cast<std::int32_t>(lanes<Word>(warp_, copy_.coordinates[d])[lane_])};
    };
    Line result;
    result.address = map_.address;
    for (std::size_t d = 1; d < dimensions(); ++d) {
      const std::int64_t place = at(d) + static_cast<std::int64_t>(number % map_.box[d]);
      number /= map_.box[d];
      if (place < 0 || place >= std::int64_t{map_.extents[d]}) return {};
      result.address += static_cast<std::uint64_t>(place) * map_.strides[d - 1];
    }
    const auto bytes = static_cast<std::int64_t>(element_bytes_);
    const std::int64_t begin = at(0) * bytes;
    const std::int64_t end = std::int64_t{map_.extents[0]} * bytes;
    const auto length = static_cast<std::int64_t>(line_bytes_);
    result.first = static_cast<std::uint64_t>(std::clamp<std::int64_t>(-begin, 0, length));
    result.end = static_cast<std::uint64_t>(std::clamp<std::int64_t>(end - begin, 0, length));
    result.address += static_cast<std::uint64_t>(begin);
    return result;
  }

  // Reads all lines; places_ are the pieces that lie in the tensor.
  bool find_pieces() {
    values_.assign(lines_ * line_bytes_, std::byte{0});
    for (std::uint64_t number = 0; number < lines_; ++number) {
      const Line one = line(number);
      if (one.first >= one.end) continue;
      const std::uint64_t from = one.address + one.first;
      const std::uint64_t bytes = one.end - one.first;
      const LaneAddress found =
          find_lane(*warp_.block, warp_, StateSpace::global, from, bytes, lane_);
      if (found.host == nullptr) return fault_at(StateSpace::global, false, from);
      std::memcpy(values_.data() + number * line_bytes_ + one.first, found.host, bytes);
      if (map_.type == kTf32)
        round_to_tf32(values_.data() + number * line_bytes_ + one.first, bytes);
      for (std::uint64_t at = 0; at + kUnit <= bytes; at += kUnit)
        places_.push_back(from + at);
      if (!may_read(from, bytes)) return false;
    }
    return true;
  }

  std::uint32_t agent() const {
    std::uint64_t mbarrier = address_of(warp_, copy_.mbarrier, lane_);
    if ((mbarrier & kWindowMask) == kSharedWindow) mbarrier &= ~kWindowMask;
    return warp_.block->races->agent_of(mbarrier);
  }

  bool may_read(std::uint64_t address, std::uint64_t bytes) {
    if (warp_.block->races == nullptr || (record_->flags & kBulkCopies) == 0) return true;
    return warp_.block->races->asynchronous(*record_, warp_, lane_, agent(), StateSpace::global,
                                            address, bytes, nullptr);
  }

  bool store() {
    for (std::uint64_t at = 0; at < values_.size(); at += kUnit) {
      std::uint64_t to = shared_ + at;
      const std::uint64_t mask = (1ULL << map_.swizzle) - 1;
      to ^= (to >> 7 & mask) << 4;
      const LaneAddress found =
          find_lane(*warp_.block, warp_, StateSpace::shared, to, kUnit, lane_);
      if (found.host == nullptr || !found.region->writable)
        return fault_at(StateSpace::shared, true, to);
      RaceDetector* races = warp_.block->races;
      if (races != nullptr &&
          !races->asynchronous(*record_, warp_, lane_, agent(), StateSpace::shared, to, kUnit,
                               values_.data() + at)) {
        return false;
      }
      std::memcpy(found.host, values_.data() + at, kUnit);
    }
    return true;
  }

  const Record* record_;
  Warp& warp_;
  int lane_;
  const BulkCopy& copy_;
  TensorMap map_;
  std::uint64_t shared_ = 0;
  std::uint64_t element_bytes_ = 0;
  std::uint64_t line_bytes_ = 0;
  std::uint64_t lines_ = 0;
  std::vector<std::byte> values_;
  std::vector<std::uint64_t> places_;
};

// The warp's copy of a map to where copies of tensors look for it.
bool put_tensor_map(const Record* r, Warp& w) {
  const BulkCopy& copy = w.block->code->bulk_copies[r->e];
  const int lane = __builtin_ctz(w.exec);
  std::uint64_t from = address_of(w, copy.shared, lane);
  if ((from & kWindowMask) == kSharedWindow) from &= ~kWindowMask;
  const std::uint64_t to = address_of(w, copy.global, lane);
  const LaneAddress source =
      find_lane(*w.block, w, StateSpace::shared, from, TensorMap::kBytes, lane);
  const LaneAddress target =
      find_lane(*w.block, w, StateSpace::global, to, TensorMap::kBytes, lane);
  const bool is_source = source.host != nullptr && from % TensorMap::kBytes == 0;
  const bool is_target =
      target.host != nullptr && target.region->writable && to % TensorMap::kBytes == 0;
  if (!is_source || !is_target) {
    set_access_fault(r, w, is_source ? StateSpace::global : StateSpace::shared, is_source,
                     is_source ? to : from, TensorMap::kBytes, lane);
    w.status = WarpStatus::faulted;
    w.last = r;
    return false;
  }
  MadeTensorMap made;
  made.address = to;
  std::memcpy(&made.map, source.host, sizeof(made.map));
  std::erase_if(w.block->tensor_maps,
                [&](const MadeTensorMap& known) { return known.address == to; });
  w.block->tensor_maps.push_back(made);
  return true;
}

const Record* bulk_copy(const Record* r, Warp& w) {
  const BulkCopy& copy = w.block->code->bulk_copies[r->e];
  if (copy.is_map) return w.exec == 0 || put_tensor_map(r, w) ? r + 1 : nullptr;
  for (Word rest = w.exec; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const bool done =
        copy.dimensions > 0 ? TensorCopy(r, w, lane).run() : LaneCopy(r, w, lane).run();
    if (!done) return nullptr;
  }
  return r + 1;
}

}  // namespace

void fill_bulk_copy_handlers(Handler* table) {
  put(table, Operation::bulk_copy, &bulk_copy);
}

}  // namespace regraph::ptx
