#include "ptx/memory/race_detector.h"

#include "ptx/memory/nearly_equal.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace regraph::ptx {
namespace {

// Bytes a lane of a store writes, as they will lie in memory.
void stored_bytes(const Record& record, Warp& warp, const SiteInfo& site, int lane,
                  std::byte* bytes) {
  const std::uint32_t slots[4] = {record.d, record.b, record.c, record.e};
  for (int i = 0; i < site.elements; ++i) {
    if (site.element_bytes == 8) {
      std::memcpy(bytes + i * 8, &lanes<std::uint64_t>(warp, slots[i])[lane], 8);
    } else {
      std::memcpy(bytes + i * site.element_bytes, &lanes<std::uint32_t>(warp, slots[i])[lane],
                  site.element_bytes);
    }
  }
}

// Of addresses of shared memory among those of global memory.
constexpr std::uint64_t kSharedKey = 1ULL << 63;

bool is_fence(std::string_view mnemonic) {
  const bool is_local =
      mnemonic.starts_with("fence.proxy") || mnemonic.starts_with("fence.mbarrier");
  return mnemonic.starts_with("membar") || (mnemonic.starts_with("fence") && !is_local);
}

}  // namespace

RaceDetector::RaceDetector(const Program::Code& code, const LaunchArguments& arguments,
                           const std::vector<MemoryRegion>& global)
    : code_(code), shared_{0, 0, {nullptr, &std::free}} {
  const auto make_cells = [](std::uint64_t begin, std::uint64_t end, std::uint64_t granule) {
    const std::size_t count = (end - begin + granule - 1) / granule + 1;
    auto* cells = static_cast<Cell*>(std::calloc(count, sizeof(Cell)));
    return CellRange{begin, cells == nullptr ? begin : end, {cells, &std::free}};
  };
  bool strong_global = false;
  for (const SiteInfo& site : code.sites) {
    const std::uint64_t bytes = static_cast<std::uint64_t>(site.element_bytes) * site.elements;
    const bool generic = site.space == StateSpace::generic;
    if (site.space == StateSpace::shared || generic) {
      shared_granule_ = std::min(shared_granule_, bytes);
    }
    if (site.space == StateSpace::global || generic) {
      global_granule_ = std::min(global_granule_, bytes);
      strong_global = strong_global || site.strong;
    }
  }
  const bool fences = std::any_of(
      code.instructions.begin(), code.instructions.end(),
      [](const InstructionInfo& instruction) { return is_fence(instruction.mnemonic); });
  const std::uint64_t span =
      code.dynamic_shared_address - kSharedBase + arguments.dynamic_shared_bytes;
  shared_ = make_cells(kSharedBase, kSharedBase + span, shared_granule_);
  std::uint64_t total = 0;
  for (const MemoryRegion& region : global)
    total += region.writable ? region.end - region.begin : 0;
  checks_global_ = total <= kMostGlobalBytes && !(strong_global && fences);
  for (const MemoryRegion& region : global) {
    if (checks_global_ && region.writable && !region.races_allowed) {
      global_.push_back(make_cells(region.begin, region.end + region.slack, global_granule_));
    }
  }
}

void RaceDetector::join(Clock& into, const Clock& other) {
  for (std::size_t w = 0; w < into.size(); ++w)
    into[w] = std::max(into[w], other[w]);
}

void RaceDetector::join(Blocks& into, const Blocks& other) {
  into.resize(std::max(into.size(), other.size()));
  for (std::size_t i = 0; i < other.size(); ++i)
    into[i] |= other[i];
}

void RaceDetector::begin_block(std::uint64_t linear_block, std::size_t warps) {
  block_ = static_cast<std::uint32_t>(linear_block) + 1;
  warps_.assign(warps, WarpState{});
  for (std::size_t w = 0; w < warps; ++w)
    warps_[w].clock[w] = 1;
  arrived_ = {};
  released_.clear();
  mbarriers_.clear();
  copy_agents_.clear();
  agent_times_ = {};
  acquired_blocks_.assign(block_ / 64 + 1, 0);
  acquired_blocks_[block_ / 64] |= 1ULL << (block_ % 64);
}

void RaceDetector::sync_warp(const Warp& warp) {
  ++warps_[warp.index].epoch;
  ++warps_[warp.index].exchange;
}

void RaceDetector::exchange_lanes(const Warp& warp) {
  ++warps_[warp.index].exchange;
}

void RaceDetector::fence(const Warp& warp) {
  WarpState& state = warps_[warp.index];
  join(state.clock, state.acquired);
  state.fenced = state.clock;
  ++state.clock[warp.index];
}

void RaceDetector::arrive(std::uint32_t id, std::uint32_t warp) {
  WarpState& state = warps_[warp];
  join(arrived_[id], state.clock);
  ++state.clock[warp];
  ++state.epoch;
  ++state.exchange;
}

void RaceDetector::barrier(std::uint32_t id, std::uint32_t warps) {
  Clock all = arrived_[id];
  for (std::uint32_t w = 0; w < warps_.size(); ++w) {
    if (((warps >> w) & 1U) != 0) join(all, warps_[w].clock);
  }
  for (std::uint32_t w = 0; w < warps_.size(); ++w) {
    if (((warps >> w) & 1U) == 0) continue;
    warps_[w].clock = all;
    ++warps_[w].clock[w];
    ++warps_[w].epoch;
    ++warps_[w].exchange;
  }
  arrived_[id] = {};
}

bool RaceDetector::ordered(const Access& earlier, const Current& now, bool earlier_reads) const {
  if (earlier.block == 0) return true;
  if (earlier.block != block_) {  // another block's shared memory is another's
    const std::size_t word = earlier.block / 64;
    return now.is_shared || (word < acquired_blocks_.size() &&
                             ((acquired_blocks_[word] >> (earlier.block % 64)) & 1U) != 0);
  }
  if (earlier.agent != kNoAgent) {
    return earlier.time <= warps_[now.access.warp].clock[kMostWarps + earlier.agent];
  }
  if (earlier.warp == now.access.warp) {
    // Of several lanes one at least is another than the earlier.
    const bool alone = (now.access.lanes & (now.access.lanes - 1)) == 0;
    if (alone && (earlier.lanes & ~now.access.lanes) == 0) return true;
    return earlier_reads ? earlier.exchange < now.access.exchange
                         : earlier.epoch < now.access.epoch;
  }
  return earlier.time <= warps_[now.access.warp].clock[earlier.warp];
}

bool RaceDetector::is_same_store(const Access& earlier, const Current& now) {
  const Access& mine = now.access;
  return earlier.block == mine.block && earlier.warp == mine.warp && earlier.agent == mine.agent &&
         earlier.instruction == mine.instruction && earlier.time == mine.time &&
         earlier.epoch == mine.epoch && earlier.exchange == mine.exchange;
}

bool RaceDetector::check_read(Cell& cell, const Current& now, std::uint64_t address) {
  if (now.is_shared && cell.write.block != block_ && cell.strong_write.block != block_) {
    note_uninitialised(now, address);
  }
  if (!ordered(cell.write, now, false)) return report(cell.write, true, false, now, address);
  if (!now.access.strong && !ordered(cell.strong_write, now, false)) {
    return report(cell.strong_write, true, false, now, address);
  }
  const Access& mine = now.access;
  for (Access& read : cell.reads) {
    if (read.block != block_ || read.warp != mine.warp || read.agent != mine.agent) continue;
    const bool joins =
        read.exchange == mine.exchange && read.time == mine.time && read.strong == mine.strong;
    const std::uint32_t before = joins ? read.lanes : 0;
    read = mine;
    read.lanes |= before;
    return true;
  }
  // Keep what is still unordered; two different warps are enough for every later writer to find
  // one.
  Access& old = ordered(cell.reads[0], now, true) ? cell.reads[0] : cell.reads[1];
  old = mine;
  return true;
}

// Whoever wrote, and whatever orders them: the cache that is read is not told.
bool RaceDetector::check_read_only(const Cell& cell, const Current& now, std::uint64_t address) {
  for (const Access* write : {&cell.write, &cell.strong_write})
    if (write->block != 0) return report(*write, true, false, now, address);
  return true;
}

bool RaceDetector::check_write(Cell& cell, const Current& now, bool new_value,
                               std::uint64_t address) {
  const bool first = now.is_shared && cell.write.block != block_;
  const bool strong = now.access.strong;
  // A value that is there already changes nothing for anyone.
  if (!new_value && !first && !strong) return true;
  if (!ordered(cell.write, now, false)) return report(cell.write, true, true, now, address);
  if (!strong && !ordered(cell.strong_write, now, false)) {
    return report(cell.strong_write, true, true, now, address);
  }
  for (const Access& read : cell.reads) {
    if (!ordered(read, now, true) && !(read.strong && strong)) {
      return report(read, false, true, now, address);
    }
  }
  (strong ? cell.strong_write : cell.write) = now.access;
  return true;
}

// Strong accesses hand on what happened before: the release and acquire patterns of the PTX ISA.
void RaceDetector::synchronise(const SiteInfo& site, std::uint32_t warp, std::uint64_t key) {
  WarpState& state = warps_[warp];
  if (site.atomic || !site.store) {
    if (const auto found = released_.find(key); found != released_.end()) {
      join(state.acquired, found->second);
      if (site.acquires) join(state.clock, found->second);
    }
  }
  if (site.store) {
    Clock& released = released_.try_emplace(key).first->second;
    join(released, site.releases ? state.clock : state.fenced);
  }
  if ((key & kSharedKey) != 0) return;
  if (site.acquires && (site.atomic || !site.store)) {
    const auto found = released_blocks_.find(key);
    if (found != released_blocks_.end()) join(acquired_blocks_, found->second);
  }
  if (site.releases && site.store) join(released_blocks_[key], acquired_blocks_);
}

RaceDetector::Cell* RaceDetector::cells_of(StateSpace space, std::uint64_t address) {
  if (space == StateSpace::shared) {
    if (address < shared_.begin || address >= shared_.end) return nullptr;
    return shared_.cells.get() + (address - shared_.begin) / shared_granule_;
  }
  if (space != StateSpace::global) return nullptr;
  for (CellRange& range : global_) {
    if (address >= range.begin && address < range.end) {
      return range.cells.get() + (address - range.begin) / global_granule_;
    }
  }
  return nullptr;
}

RaceDetector::Current RaceDetector::current(const Record& record, Warp& warp) const {
  const WarpState& state = warps_[warp.index];
  Current now;
  now.record = &record;
  now.warp = &warp;
  now.access.block = block_;
  now.access.time = state.clock[warp.index];
  now.access.epoch = state.epoch;
  now.access.exchange = state.exchange;
  now.access.instruction = record.instruction;
  now.access.warp = static_cast<std::uint8_t>(warp.index);
  return now;
}

bool RaceDetector::copy(const PendingCopies::Copy& copy, std::uint32_t lanes, Warp& warp) {
  Current now = current(*copy.record, warp);
  now.is_shared = true;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    now.lane = __builtin_ctz(rest);
    now.access.lanes = 1U << now.lane;
    const auto lane = static_cast<std::size_t>(now.lane);
    Cell* cells = cells_of(StateSpace::shared, copy.addresses[lane]);
    if (cells == nullptr) continue;
    const auto* values = reinterpret_cast<const std::byte*>(copy.values[lane].data());
    for (std::uint64_t offset = 0; offset < copy.bytes; offset += shared_granule_) {
      const std::uint64_t width = std::min<std::uint64_t>(shared_granule_, copy.bytes - offset);
      const bool new_value = std::memcmp(copy.host[lane] + offset, values + offset, width) != 0;
      if (!check_write(cells[offset / shared_granule_], now, new_value,
                       copy.addresses[lane] + offset)) {
        return false;
      }
    }
  }
  return true;
}

bool RaceDetector::access(const Record& record, Warp& warp, const SiteInfo& site,
                          const std::uint64_t* addresses) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(site.element_bytes) * site.elements;
  Current now = current(record, warp);
  now.access.strong = site.strong;
  for (std::uint32_t rest = warp.exec; rest != 0; rest &= rest - 1) {
    now.lane = __builtin_ctz(rest);
    now.access.lanes = 1U << now.lane;
    // Neighbours that load the same address are one access.
    while (!site.store && !site.strong && rest != now.access.lanes) {
      const std::uint32_t others = rest & ~now.access.lanes;
      const std::uint32_t next = others & (0U - others);
      if (next == 0 || addresses[__builtin_ctz(next)] != addresses[now.lane]) break;
      now.access.lanes |= next;
    }
    rest &= ~now.access.lanes | (1U << now.lane);
    std::uint64_t address = addresses[now.lane];
    const StateSpace space = resolve_address(site.space, address);
    Cell* cells = cells_of(space, address);
    if (cells == nullptr || address % bytes != 0) continue;
    LaneAddress at;
    if (site.store) {
      at = find_lane(*warp.block, warp, space, address, bytes, now.lane);
      if (at.host == nullptr || !at.region->writable) continue;
    }
    now.is_shared = space == StateSpace::shared;
    const std::uint64_t granule = now.is_shared ? shared_granule_ : global_granule_;
    std::byte value[32];
    const bool plain_store = site.store && !site.atomic;
    if (plain_store) stored_bytes(record, warp, site, now.lane, value);
    for (std::uint64_t offset = 0; offset < bytes; offset += granule) {
      Cell& cell = cells[offset / granule];
      const std::uint64_t place = address + offset;
      const std::uint64_t width = std::min(granule, bytes - offset);
      if (site.read_only && !check_read_only(cell, now, place)) return false;
      if ((site.atomic || !site.store) && !check_read(cell, now, place)) return false;
      if (!site.store) continue;
      const bool new_value =
          !plain_store || std::memcmp(at.host + offset, value + offset, width) != 0;
      if (new_value && plain_store && is_same_store(cell.write, now) &&
          nearly_equal(at.host + offset, value + offset, width)) {
        cell.write.lanes |= now.access.lanes;
        continue;
      }
      if (!check_write(cell, now, new_value, place)) return false;
    }
    if (plain_store) std::memcpy(at.host, value, bytes);
    if (site.strong) {
      synchronise(site, warp.index, now.is_shared ? address | kSharedKey : address);
    }
  }
  return true;
}

}  // namespace regraph::ptx
