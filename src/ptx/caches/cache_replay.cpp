#include "ptx/caches/cache_replay.h"

#include <algorithm>

namespace regraph::ptx {
namespace {

// Requests between asking for a cache's place and using it.
constexpr std::size_t kPrefetchDistance = 6;

int sector_count(std::uint32_t sectors) {
  constexpr std::array<std::uint8_t, 16> kCounts = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
  return kCounts[sectors & 15U];
}

}  // namespace

CacheReplay::CacheReplay(const CacheGeometry& geometry, std::vector<LoadService>& loads)
    : sms_(static_cast<std::size_t>(geometry.sm_count)),
      loads_(loads),
      l2_(geometry.l2_bytes, geometry.l2_ways),
      l1_(sms_, SectoredCache(geometry.l1_bytes, geometry.l1_ways)),
      recent_(sms_) {}

void CacheReplay::clear_l1() {
  for (SectoredCache& l1 : l1_)
    l1.clear();
}

// Block i of a wave runs on SM i modulo the number of SMs.
void CacheReplay::replay(const AccessTrace& trace, const std::vector<std::size_t>& begins,
                         WaveCounts& counts) {
  const std::vector<TracedRequest>& requests = trace.requests();
  const std::size_t blocks = begins.size() - 1;
  std::vector<std::size_t> cursor(begins.begin(), begins.end() - 1);
  // Nothing that an earlier wave asked for is still on its way.
  for (RecentFills& recent : recent_)
    recent = RecentFills{};
  std::uint32_t quantum = 0;
  while (true) {
    std::uint32_t next = ~0U;
    for (std::size_t sm = 0; sm < std::min(sms_, blocks); ++sm) {
      for (std::size_t block = sm; block < blocks; block += sms_) {
        std::size_t& at = cursor[block];
        while (at < begins[block + 1] && (requests[at].time >> kQuantumShift) <= quantum) {
          if (at + kPrefetchDistance < begins[block + 1]) {
            l1_[sm].prefetch(requests[at + kPrefetchDistance].line);
            l2_.prefetch(requests[at + kPrefetchDistance].line);
          }
          replay_request(trace, requests[at++], l1_[sm], recent_[sm], quantum, counts);
        }
        if (at < begins[block + 1]) next = std::min(next, requests[at].time >> kQuantumShift);
      }
    }
    if (next == ~0U) return;
    quantum = next;
  }
}

void CacheReplay::replay_request(const AccessTrace& trace, const TracedRequest& request,
                                 SectoredCache& l1, RecentFills& recent, std::uint32_t quantum,
                                 WaveCounts& counts) {
  const AccessPattern& pattern = trace.pattern(request.pattern);
  const AccessPattern::Line* lines = trace.lines(pattern);
  Source source = Source::l1;
  for (std::uint32_t i = 0; i < pattern.line_count; ++i) {
    const std::uint64_t line = request.line + static_cast<std::uint64_t>(lines[i].delta);
    std::uint32_t wanted = lines[i].sectors;
    const auto total = static_cast<double>(sector_count(wanted));
    if (pattern.kind == AccessPattern::Kind::atomic) {
      const int fetched = sector_count(l2_.write(line, wanted));
      (total == 1 ? counts.atomic_lone_sectors : counts.atomic_joint_sectors) += fetched;
      continue;
    }
    if (pattern.kind == AccessPattern::Kind::store) {
      counts.l2_write_sectors += total;
      counts.dram_write_sectors += sector_count(l2_.write(line, wanted));
      continue;
    }
    counts.load_sectors += total;
    if (pattern.kind == AccessPattern::Kind::load) {
      const std::uint32_t hit = l1.read(line, wanted);
      counts.l1_hit_sectors += sector_count(hit);
      wanted &= ~hit;
      if (hit != 0) source = std::max(source, recent.source(line, hit, quantum));
      if (wanted == 0) continue;
    }
    const int asked = sector_count(wanted);
    const std::uint32_t in_l2 = l2_.read(line, wanted);
    const int hits = sector_count(in_l2);
    source = std::max(source, hits == asked ? Source::l2 : Source::dram);
    recent.add(line, in_l2, wanted & ~in_l2, quantum);
    counts.l2_read_sectors += asked;
    counts.l2_hit_sectors += hits;
    counts.dram_read_sectors += asked - hits;
  }
  if (pattern.kind != AccessPattern::Kind::load &&
      pattern.kind != AccessPattern::Kind::load_bypassing_l1) {
    return;
  }
  count(loads_[pattern.instruction], source);
}

void CacheReplay::count(LoadService& service, Source source) {
  switch (source) {
    case Source::l1:
      service.l1 += 1.0;
      break;
    case Source::shared_l2:
      service.shared_l2 += 1.0;
      break;
    case Source::l2:
      service.l2 += 1.0;
      break;
    case Source::shared_dram:
      service.shared_dram += 1.0;
      break;
    case Source::dram:
      service.dram += 1.0;
      break;
  }
}

}  // namespace regraph::ptx
