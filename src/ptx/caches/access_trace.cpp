#include "ptx/caches/access_trace.h"

#include "base/random.h"
#include "ptx/memory/sectors.h"

#include <algorithm>
#include <array>

namespace regraph::ptx {
namespace {

AccessPattern::Kind kind_of(const Program::Code& code, std::uint32_t site) {
  const SiteInfo& info = code.sites[site];
  if (info.atomic) return AccessPattern::Kind::atomic;
  if (info.store) return AccessPattern::Kind::store;
  return code.instructions[info.instruction].bypasses_l1 ? AccessPattern::Kind::load_bypassing_l1
                                                         : AccessPattern::Kind::load;
}

// Bits of the bytes of a sector that `bytes` from `address` on are.
std::uint32_t bytes_within(std::uint64_t sector, std::uint64_t address, std::uint32_t bytes) {
  const std::uint64_t begin = std::max(address, sector * kSectorBytes) % kSectorBytes;
  const std::uint64_t end =
      std::min(address + bytes, (sector + 1) * kSectorBytes) - sector * kSectorBytes;
  return static_cast<std::uint32_t>(((std::uint64_t{1} << end) - 1) &
                                    ~((std::uint64_t{1} << begin) - 1));
}

}  // namespace

std::uint32_t AccessTrace::intern(AccessPattern::Kind kind, std::uint32_t instruction,
                                  std::uint64_t base_line, const std::uint64_t* addresses,
                                  std::uint32_t mask, std::uint32_t bytes) {
  AccessPattern pattern;
  pattern.kind = kind;
  pattern.instruction = instruction;
  pattern.first_line = static_cast<std::uint32_t>(lines_.size());
  std::uint64_t hash = random_bits(static_cast<std::uint64_t>(kind), instruction);
  using StoredBytes = std::array<std::uint32_t, kLineBytes / kSectorBytes>;  // of each sector
  std::vector<StoredBytes> stored;                                           // of each line
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const std::uint64_t address = addresses[__builtin_ctz(rest)];
    for (std::uint64_t sector = address / kSectorBytes;
         sector <= (address + bytes - 1) / kSectorBytes; ++sector) {
      const std::uint64_t line = sector * kSectorBytes / kLineBytes;
      const auto delta = static_cast<std::int64_t>(line - base_line);
      const std::uint32_t bit = 1U << (sector % (kLineBytes / kSectorBytes));
      const auto begin = lines_.begin() + pattern.first_line;
      const auto found = std::find_if(begin, lines_.end(), [&](const AccessPattern::Line& known) {
        return known.delta == delta;
      });
      const auto which = static_cast<std::size_t>(found - begin);
      if (found == lines_.end()) {
        lines_.push_back({delta, bit});
        stored.emplace_back();
      } else {
        found->sectors |= bit;
      }
      stored[which][sector % (kLineBytes / kSectorBytes)] |= bytes_within(sector, address, bytes);
    }
  }
  pattern.line_count = static_cast<std::uint32_t>(lines_.size()) - pattern.first_line;
  for (std::uint32_t i = 0; kind == AccessPattern::Kind::store && i < pattern.line_count; ++i) {
    AccessPattern::Line& line = lines_[pattern.first_line + i];
    for (std::size_t sector = 0; sector < stored[i].size(); ++sector)
      line.whole |= stored[i][sector] == ~0U ? 1U << sector : 0U;
    pattern.partial_count += ptx::sector_count(line.sectors & ~line.whole);
  }
  const AccessPattern::Line* mine = lines(pattern);
  for (std::uint32_t i = 0; i < pattern.line_count; ++i) {
    pattern.sector_count += ptx::sector_count(mine[i].sectors);
    hash = random_bits(hash, static_cast<std::uint64_t>(mine[i].delta),
                       mine[i].sectors | mine[i].whole << 8);
  }
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto known = first; known != last; ++known) {
    const AccessPattern& other = patterns_[known->second];
    if (other.kind != kind || other.instruction != instruction ||
        other.line_count != pattern.line_count) {
      continue;
    }
    const bool same =
        std::equal(mine, mine + pattern.line_count, lines(other),
                   [](const AccessPattern::Line& a, const AccessPattern::Line& b) {
                     return a.delta == b.delta && a.sectors == b.sectors && a.whole == b.whole;
                   });
    if (same) {
      lines_.resize(pattern.first_line);
      return known->second;
    }
  }
  const auto id = static_cast<std::uint32_t>(patterns_.size());
  patterns_.push_back(pattern);
  by_hash_.emplace(hash, id);
  return id;
}

void AccessTrace::access(const Record& record, Warp& warp, AccessSite& site) {
  const bool narrow = record.handler_id == handler_id(Operation::trace_access, LaneType::u32);
  const auto displacement = static_cast<std::uint64_t>(record.immediate);
  const auto address_of = [&](int lane) {
    return (narrow ? ptx::lanes<std::uint32_t>(warp, record.a)[lane]
                   : ptx::lanes<std::uint64_t>(warp, record.a)[lane]) +
           displacement;
  };
  const std::uint64_t first = address_of(__builtin_ctz(warp.exec));
  // Generic accesses to shared or local memory are no traffic.
  if (site.space == StateSpace::generic && (first & kWindowMask) != 0) return;
  const std::uint64_t base_line = first / kLineBytes;
  AccessPlan& plan = site.plans[site.current];
  // The current plan is this access's own when it has one (sites of one space do).
  const bool planned = site.space == StateSpace::global && plan.mask == warp.exec &&
                       plan.hits > 0 && plan.alignment == (first & plan.alignment_mask);
  std::uint32_t id = planned ? plan.pattern[first / kSectorBytes % 4] : 0;
  if (id == 0) {
    std::uint64_t addresses[kWarpLanes];
    for (int l = 0; l < kWarpLanes; ++l)
      addresses[l] = address_of(l);
    id = intern(kind_of(*warp.block->code, record.site), record.instruction, base_line, addresses,
                warp.exec, site.bytes);
    if (planned) plan.pattern[first / kSectorBytes % 4] = id;
  }
  const AccessPattern& pattern = patterns_[id];
  if (pattern.kind == AccessPattern::Kind::atomic) {
    std::uint64_t addresses[kWarpLanes];
    for (int l = 0; l < kWarpLanes; ++l)
      addresses[l] = address_of(l);
    const BlockContext& block = *warp.block;
    const LaneAddress found = find_lane(block, warp, StateSpace::global, first, 1, 0);
    const std::uint64_t begin = found.region != nullptr ? found.region->begin : 0;
    const std::uint64_t bytes = found.region != nullptr ? found.region->end - begin : 0;
    atomics_.add(addresses, warp.exec, site.bytes,
                 block.code->instructions[record.instruction].atomic, begin, bytes);
  }
  requests_.push_back({base_line, id, static_cast<std::uint32_t>(warp.time)});
  ++totals_.requests;
  totals_.line_accesses += pattern.line_count;
  const bool atomic = pattern.kind == AccessPattern::Kind::atomic;
  const bool stores = pattern.kind == AccessPattern::Kind::store;
  if (stores) totals_.write_sectors += pattern.sector_count;
  totals_.partial_write_sectors += pattern.partial_count;
  if (!stores && !atomic) totals_.load_sectors += pattern.sector_count;
  if ((stores || atomic) && count_written_) {
    std::unordered_set<std::uint64_t>& written = atomic ? atomic_written_ : written_;
    const AccessPattern::Line* touched = lines(pattern);
    for (std::uint32_t i = 0; i < pattern.line_count; ++i) {
      const std::uint64_t line = base_line + static_cast<std::uint64_t>(touched[i].delta);
      for (std::uint64_t sector = 0; sector < kLineBytes / kSectorBytes; ++sector) {
        if (((touched[i].sectors >> sector) & 1U) != 0) written.insert(line * 4 + sector);
      }
    }
  }
}

void AccessTrace::clear() {
  requests_.clear();
  written_.clear();
  atomic_written_.clear();
  totals_ = TraceTotals{};
}

void AccessTrace::sort_by_quantum(std::size_t first) {
  std::stable_sort(
      requests_.begin() + static_cast<std::ptrdiff_t>(first), requests_.end(),
      [](const TracedRequest& a, const TracedRequest& b) { return quantum_of(a) < quantum_of(b); });
}

}  // namespace regraph::ptx
