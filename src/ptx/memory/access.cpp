// The slow half of loads and stores: finding memory, checking it, remembering the pattern.
#include "ptx/address_log.h"
#include "ptx/memory/block_context.h"
#include "ptx/memory/sectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

namespace regraph::ptx {
namespace {

const std::vector<MemoryRegion>* regions_of(const BlockContext& block, StateSpace space) {
  switch (space) {
    case StateSpace::global:
      return &block.global;
    case StateSpace::shared:
      return &block.shared;
    case StateSpace::constant:
      return &block.constant;
    case StateSpace::parameter:
      return &block.parameter;
    default:
      return nullptr;
  }
}

const MemoryRegion* region_before(const std::vector<MemoryRegion>& regions, std::uint64_t address) {
  const auto after = std::upper_bound(
      regions.begin(), regions.end(), address,
      [](std::uint64_t value, const MemoryRegion& region) { return value < region.begin; });
  return after == regions.begin() ? nullptr : &*(after - 1);
}

std::string describe_place(const BlockContext& block, StateSpace space, std::uint64_t address,
                           std::uint64_t bytes) {
  const StateSpace resolved = resolve_address(space, address);
  if (resolved == StateSpace::local) {
    return fmt::format("outside the thread's {} bytes of local memory", block.local_bytes);
  }
  constexpr std::uint64_t kNullPage = 4096;
  if (resolved == StateSpace::global && address < kNullPage) return "near the null pointer";
  const std::vector<MemoryRegion>& regions = *regions_of(block, resolved);
  const MemoryRegion* before = region_before(regions, address);
  if (before != nullptr) {
    const std::uint64_t size = before->end - before->begin;
    if (address + bytes > before->end && address < before->end) {
      return fmt::format("across the end of '{}' ({} bytes)", before->name, size);
    }
    const MemoryRegion* after = before + 1 < regions.data() + regions.size() ? before + 1 : nullptr;
    if (after == nullptr || address - before->end <= after->begin - address) {
      return fmt::format("{} bytes past the end of '{}' ({} bytes)", address - before->end,
                         before->name, size);
    }
  }
  const MemoryRegion* after = before != nullptr ? before + 1
                              : regions.empty() ? nullptr
                                                : regions.data();
  if (after == nullptr) return "where no memory is";
  return fmt::format("{} bytes before the start of '{}' ({} bytes)", after->begin - address,
                     after->name, after->end - after->begin);
}

std::string_view space_name(StateSpace space) {
  switch (space) {
    case StateSpace::shared:
      return "shared ";
    case StateSpace::local:
      return "local ";
    case StateSpace::constant:
      return "constant ";
    case StateSpace::parameter:
      return "parameter ";
    default:
      return "";
  }
}

// Which bits of the first address change what an access costs. In shared memory none: banks rotate;
// but where lanes are 16 bytes apart or more, plans tell positions within 16 bytes apart, so that
// address_bits sees them all.
// In global memory the position in the line; but when all distances are multiples of a power of two
// g of at least a sector, positions within g are the same for all lanes. Alignment always matters.
std::uint64_t alignment_that_matters(const AccessSite& site, std::uint32_t deltas) {
  constexpr std::uint64_t kLineMask = 127;
  constexpr std::uint64_t kSectorMask = 31;
  const std::uint64_t alignment = site.bytes - 1;
  constexpr std::uint64_t kWidestAccessMask = 15;
  if (site.space == StateSpace::shared) {
    return (deltas & kWidestAccessMask) != 0 ? alignment : alignment | kWidestAccessMask;
  }
  if ((deltas & kSectorMask) != 0) return kLineMask;
  const std::uint64_t step = deltas == 0 ? kLineMask + 1 : deltas & (0U - deltas);
  return (kLineMask & ~(step - 1)) | alignment;
}

// Remembers the pattern when it lies in one region. Returns whether it did.
bool remember(AccessSite& site, const std::uint64_t* addresses, const MemoryRegion* region,
              std::uint32_t mask, const RequestCost& cost) {
  const std::uint64_t first = addresses[__builtin_ctz(mask)];
  std::int64_t low = 0;
  std::int64_t high = 0;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto delta = static_cast<std::int64_t>(addresses[__builtin_ctz(rest)] - first);
    low = std::min(low, delta);
    high = std::max(high, delta);
  }
  if (low < std::numeric_limits<std::int32_t>::min() ||
      high > std::numeric_limits<std::int32_t>::max()) {
    return false;
  }
  AccessPlan& plan = site.plans[site.next];
  add_requests(site.totals, plan.cost, plan.hits);
  site.current = site.next;
  site.next = (site.next + 1) % AccessSite::kPlans;
  plan.mask = mask;
  plan.low = low;
  plan.high = high + static_cast<std::int64_t>(site.bytes);
  plan.cost = cost;
  plan.hits = 1;
  for (std::uint32_t& pattern : plan.pattern)
    pattern = 0;
  std::uint32_t deltas = 0;
  bool uniform = mask == kFullMask;
  bool consecutive = mask == kFullMask;
  for (int l = 0; l < kWarpLanes; ++l) {
    const bool on = ((mask >> l) & 1U) != 0;
    plan.delta[l] = on ? static_cast<std::int32_t>(addresses[l] - first) : 0;
    deltas |= static_cast<std::uint32_t>(plan.delta[l]);
    uniform = uniform && plan.delta[l] == 0;
    consecutive = consecutive && plan.delta[l] == l * static_cast<std::int32_t>(site.bytes);
  }
  plan.kind = uniform       ? AccessPlan::uniform
              : consecutive ? AccessPlan::consecutive
                            : AccessPlan::general;
  site.address_bits |= first | deltas;
  plan.alignment_mask = alignment_that_matters(site, deltas);
  plan.alignment = first & plan.alignment_mask;
  site.region_begin = region->begin;
  site.region_end = region->end;
  site.region_host = region->host;
  return true;
}

// Looks through the other remembered plans of the site.
bool recall(AccessSite& site, const std::uint64_t* addresses, const MemoryRegion* region,
            std::uint32_t mask) {
  const std::uint64_t first = addresses[__builtin_ctz(mask)];
  for (std::uint32_t i = 0; i < AccessSite::kPlans; ++i) {
    AccessPlan& plan = site.plans[i];
    if (plan.mask != mask || plan.alignment != (first & plan.alignment_mask)) continue;
    std::uint64_t difference = 0;
    for (int l = 0; l < kWarpLanes; ++l) {
      const std::uint64_t lane =
          (addresses[l] - first) ^
          static_cast<std::uint64_t>(static_cast<std::int64_t>(plan.delta[l]));
      difference |= ((mask >> l) & 1U) != 0 ? lane : 0;
    }
    if (difference != 0) continue;
    ++plan.hits;
    site.current = i;
    site.region_begin = region->begin;
    site.region_end = region->end;
    site.region_host = region->host;
    return true;
  }
  return false;
}

}  // namespace

StateSpace resolve_address(StateSpace space, std::uint64_t& address) {
  if (space != StateSpace::generic) return space;
  const std::uint64_t window = address & kWindowMask;
  StateSpace resolved = StateSpace::global;
  if (window == kSharedWindow) resolved = StateSpace::shared;
  if (window == kLocalWindow) resolved = StateSpace::local;
  if (window == kConstantWindow) resolved = StateSpace::constant;
  if (window == kParameterWindow) resolved = StateSpace::parameter;
  if (resolved != StateSpace::global) address &= ~kWindowMask;
  return resolved;
}

Dim3 BlockContext::thread_of(const Warp& warp, int lane) const {
  const std::uint32_t linear = warp.index * kWarpLanes + static_cast<std::uint32_t>(lane);
  return Dim3{linear % block.x, linear / block.x % block.y, linear / (block.x * block.y)};
}

Fault BlockContext::make_fault(FaultKind kind, std::string message, const Record* record,
                               const Warp& warp, int lane) const {
  Fault made;
  made.kind = kind;
  made.message = std::move(message);
  if (record != nullptr && record->instruction < code->instructions.size()) {
    made.ptx_line = code->instructions[record->instruction].line;
    made.source_line = code->instructions[record->instruction].source_line;
  }
  made.block = block_index;
  made.thread = thread_of(warp, lane);
  return made;
}

void BlockContext::set_fault(FaultKind kind, std::string message, const Record* record,
                             const Warp& warp, int lane) {
  if (fault.kind == FaultKind::none)
    fault = make_fault(kind, std::move(message), record, warp, lane);
}

LaneAddress find_lane(const BlockContext& block, const Warp& warp, StateSpace space,
                      std::uint64_t address, std::uint64_t bytes, int lane) {
  const StateSpace resolved = resolve_address(space, address);
  if (resolved == StateSpace::local) {
    if (address > block.local_bytes || bytes > block.local_bytes - address) return {};
    return {warp.local + static_cast<std::uint64_t>(lane) * block.local_bytes + address, nullptr};
  }
  const MemoryRegion* region = region_before(*regions_of(block, resolved), address);
  if (region == nullptr) return {};
  const std::uint64_t end = region->end + region->slack;
  if (address >= end || bytes > end - address) return {};
  return {region->host + (address - region->begin), region, address + bytes > region->end};
}

namespace {

std::string describe_access(const BlockContext& block, const Record* record, StateSpace space,
                            bool store, std::uint64_t address, std::uint64_t bytes) {
  return fmt::format("{} {} {} bytes at {}address 0x{:x}",
                     block.code->instructions[record->instruction].mnemonic,
                     store ? "writes" : "reads", bytes, space_name(space), address);
}

// Hardware has memory there, since its allocator rounds up.
void note_slack(const Record* record, Warp& warp, const AccessSite& site, std::uint64_t address,
                int lane) {
  BlockContext& block = *warp.block;
  ++(site.store ? block.slack.writes : block.slack.reads);
  if (block.slack.first.kind != FaultKind::none) return;
  const std::string what =
      describe_access(block, record, site.space, site.store, address, site.bytes);
  const std::string place = describe_place(block, site.space, address, site.bytes);
  block.slack.first = block.make_fault(FaultKind::out_of_bounds, fmt::format("{}, {}", what, place),
                                       record, warp, lane);
}

}  // namespace

void set_access_fault(const Record* record, Warp& warp, StateSpace space, bool store,
                      std::uint64_t address, std::uint64_t bytes, int lane) {
  BlockContext& block = *warp.block;
  const LaneAddress found = find_lane(block, warp, space, address, bytes, lane);
  const std::string what = describe_access(block, record, space, store, address, bytes);
  if (address % bytes != 0) {
    block.set_fault(FaultKind::misaligned,
                    fmt::format("{}, which is not a multiple of {}", what, bytes), record, warp,
                    lane);
  } else if (found.host == nullptr) {
    block.set_fault(FaultKind::out_of_bounds,
                    fmt::format("{}, {}", what, describe_place(block, space, address, bytes)),
                    record, warp, lane);
  } else {
    block.set_fault(FaultKind::write_to_read_only,
                    fmt::format("{} in '{}', which is read-only", what,
                                found.region != nullptr ? found.region->name : ""),
                    record, warp, lane);
  }
  warp.status = WarpStatus::faulted;
  warp.last = record;
}

void report_access(const Record* record, Warp& warp, AccessSite& site) {
  warp.block->sink->access(*record, warp, site);
}

namespace {

// The region that all lanes access within, aligned, as most scattered accesses do: asked of all
// lanes at once. Null where lanes have to be looked at one by one. `region`: of the first lane.
const MemoryRegion* region_of_all(const MemoryRegion* region, const AccessSite& site,
                                  const std::uint64_t* addresses, std::uint32_t mask,
                                  ScatteredLanes& scattered) {
  const std::uint64_t bytes = site.bytes;
  if (region == nullptr || !std::has_single_bit(bytes) || (site.store && !region->writable))
    return nullptr;
  const std::uint64_t first = addresses[__builtin_ctz(mask)];
  std::uint64_t low = first;
  std::uint64_t high = first;
  std::uint64_t bits = first;
  const auto of_lane = [&](int l) { return ((mask >> l) & 1U) != 0 ? addresses[l] : first; };
  for (int l = 0; l < kWarpLanes; ++l) {
    const std::uint64_t address = of_lane(l);
    low = std::min(low, address);
    high = std::max(high, address);
    bits |= address;
  }
  const bool is_inside = low >= region->begin && high < region->end && bytes <= region->end - high;
  if (!is_inside || (bits & (bytes - 1)) != 0) return nullptr;
  // Lanes that are off get the first one's, which nobody uses.
  for (int l = 0; l < kWarpLanes; ++l)
    scattered.host[l] = region->host + (of_lane(l) - region->begin);
  return region;
}

}  // namespace

AccessOutcome resolve_access(const Record* record, Warp& warp, AccessSite& site,
                             const std::uint64_t* addresses, ScatteredLanes& scattered) {
  const BlockContext& block = *warp.block;
  const std::uint32_t mask = warp.exec;
  const MemoryRegion* common = nullptr;
  bool one_region = site.space != StateSpace::local && site.space != StateSpace::generic;
  AddressLog* log =
      site.store || block.reads == nullptr || block.reads->full ? nullptr : block.reads;
  bool logged = false;
  if (one_region && log == nullptr) {
    const int first = __builtin_ctz(mask);
    common = region_of_all(
        find_lane(block, warp, site.space, addresses[first], site.bytes, first).region, site,
        addresses, mask, scattered);
  }
  const std::uint32_t one_by_one = common == nullptr ? mask : 0;
  for (std::uint32_t rest = one_by_one; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const LaneAddress found = find_lane(block, warp, site.space, addresses[lane], site.bytes, lane);
    const bool writable = found.region == nullptr || found.region->writable;
    if (found.host == nullptr || addresses[lane] % site.bytes != 0 || (site.store && !writable)) {
      set_access_fault(record, warp, site.space, site.store, addresses[lane], site.bytes, lane);
      return AccessOutcome::faulted;
    }
    if (found.in_slack) [[unlikely]]
      note_slack(record, warp, site, addresses[lane], lane);
    scattered.host[lane] = found.host;
    if (lane == __builtin_ctz(mask)) common = found.region;
    one_region = one_region && found.region == common;
    std::uint64_t address = addresses[lane];
    if (log != nullptr && writable && resolve_address(site.space, address) == StateSpace::global) {
      log->add(address, site.bytes);
      logged = true;
    }
  }
  // A plan would take the next access past the log.
  one_region = one_region && !logged;
  if (one_region && recall(site, addresses, common, mask)) return AccessOutcome::planned;
  RequestCost cost;
  if (site.count) {
    if (site.space == StateSpace::local) {
      constexpr auto kSector = static_cast<std::uint32_t>(kSectorBytes);
      // Local memory interleaves lanes by word: lanes that agree on the address are coalesced.
      const auto lanes = static_cast<std::uint32_t>(__builtin_popcount(mask));
      const std::uint32_t sectors = (lanes * site.bytes + kSector - 1) / kSector;
      cost = {sectors, site.bytes / 4 + 1, 1, sectors, 1, 0};
    } else {
      cost = request_cost(addresses, mask, site.bytes);
      if (site.space == StateSpace::shared && block.code->sites[record->site].atomic) {
        // Shared memory has no sectors and lines: their places hold what atomics wait for.
        const LaneMeetings meetings = lane_meetings(addresses, mask, site.bytes);
        cost.sectors = meetings.bank_lanes;
        cost.lines = meetings.word_lanes;
      }
    }
  }
  if (one_region && remember(site, addresses, common, mask, cost)) {
    return AccessOutcome::planned;
  }
  add_requests(site.totals, cost, 1);
  return AccessOutcome::scattered;
}

}  // namespace regraph::ptx
