#include "ptx/caches/cache_replay.h"

#include "ptx/memory/sectors.h"

#include <algorithm>

namespace regraph::ptx {
namespace {

// Accesses between asking for a place of the L2 and using it.
constexpr std::size_t kPrefetchDistance = 8;
// Requests that are played to the L1s before the L2 hears of them: an L1 does not leave the host's
// cache while it is played, and there is little to keep.
constexpr std::uint64_t kRequestsOfPart = 1 << 17;
// SMs that one thread plays before it looks for others.
constexpr std::size_t kSmsOfGroup = 8;

std::uint32_t last_quantum(const TracedWave& wave) {
  std::uint32_t last = 0;
  for (const BlockRequests& block : wave.blocks) {
    if (block.begin == block.end) continue;
    last = std::max(last, quantum_of(block.trace->requests()[block.end - 1]));
  }
  return last;
}

}  // namespace

CacheReplay::CacheReplay(const CacheGeometry& geometry, std::vector<LoadService>& loads,
                         ThreadBudget& threads)
    : threads_(threads),
      loads_(loads),
      l2_(geometry.l2_bytes, geometry.l2_ways),
      sms_(static_cast<std::size_t>(geometry.sm_count),
           SmReplay(geometry.l1_bytes, geometry.l1_ways, loads.size())),
      l2_sides_(sms_.size()) {}

void CacheReplay::clear_l1() {
  for (SmReplay& sm : sms_)
    sm.clear_l1();
}

WaveCounts CacheReplay::replay(const TracedWave& wave) {
  WaveCounts counts;
  counts.requests = static_cast<double>(wave.requests);
  const std::size_t busy = std::min(sms_.size(), wave.blocks.size());
  for (std::size_t sm = 0; sm < busy; ++sm) {
    sms_[sm].begin(wave, sm, sms_.size());
    l2_sides_[sm] = {};
  }
  const std::uint64_t quanta = std::uint64_t{last_quantum(wave)} + 1;
  const std::uint64_t parts = std::clamp<std::uint64_t>(wave.requests / kRequestsOfPart, 1, quanta);
  const std::size_t groups = (busy + kSmsOfGroup - 1) / kSmsOfGroup;
  std::vector<SmOutput> sent(busy);
  std::vector<SmOutput> sending(busy);
  for (std::uint64_t part = 0; part <= parts; ++part) {
    const bool sends = part < parts;
    const auto last = static_cast<std::uint32_t>((part + 1) * quanta / parts - 1);
    threads_.for_each_index(sends ? groups + 1 : 1, [&](std::size_t index) {
      if (index == 0) return play_l2(sent, counts);
      const std::size_t end = std::min(index * kSmsOfGroup, busy);
      for (std::size_t sm = (index - 1) * kSmsOfGroup; sm < end; ++sm) {
        sending[sm].quanta.clear();
        sending[sm].accesses.clear();
        sms_[sm].play(last, sending[sm]);
      }
    });
    sent.swap(sending);
  }
  for (std::size_t sm = 0; sm < busy; ++sm) {
    const SmReplay::Counts& played = sms_[sm].counts();
    counts.load_sectors += static_cast<double>(played.load_sectors);
    counts.l1_hit_sectors += static_cast<double>(played.l1_hit_sectors);
    for (std::size_t i = 0; i < loads_.size(); ++i)
      count(loads_[i], Source::l1, static_cast<double>(played.served[i]));
  }
  return counts;
}

void CacheReplay::play_l2(const std::vector<SmOutput>& sent, WaveCounts& counts) {
  std::vector<std::size_t> at(sent.size(), 0);
  std::uint32_t quantum = 0;
  while (true) {
    std::uint32_t next = ~0U;
    for (std::size_t sm = 0; sm < sent.size(); ++sm) {
      const std::vector<SmOutput::Quantum>& quanta = sent[sm].quanta;
      if (at[sm] < quanta.size() && quanta[at[sm]].quantum == quantum)
        play_quantum(sent[sm], at[sm]++, l2_sides_[sm], counts);
      if (at[sm] < quanta.size()) next = std::min(next, quanta[at[sm]].quantum);
    }
    if (next == ~0U) return;
    quantum = next;
  }
}

void CacheReplay::play_quantum(const SmOutput& sent, std::size_t which, L2Side& side,
                               WaveCounts& counts) {
  const std::vector<L2Access>& accesses = sent.accesses;
  const std::uint32_t quantum = sent.quanta[which].quantum;
  const std::size_t end =
      which + 1 < sent.quanta.size() ? sent.quanta[which + 1].begin : accesses.size();
  for (std::size_t i = sent.quanta[which].begin; i < end; ++i) {
    if (i + kPrefetchDistance < accesses.size()) l2_.prefetch(accesses[i + kPrefetchDistance].line);
    play_access(accesses[i], quantum, side, counts);
  }
}

void CacheReplay::play_access(const L2Access& access, std::uint32_t quantum, L2Side& side,
                              WaveCounts& counts) {
  switch (access.kind) {
    case AccessPattern::Kind::atomic: {
      const std::uint32_t fetched = sector_count(l2_.write(access.line, access.wanted));
      const bool alone = sector_count(access.wanted) == 1;
      (alone ? counts.atomic_lone_sectors : counts.atomic_joint_sectors) += fetched;
      return;
    }
    case AccessPattern::Kind::store:
      counts.l2_write_sectors += sector_count(access.wanted);
      counts.l2_partial_write_sectors += sector_count(access.wanted & ~access.whole);
      counts.dram_write_sectors += sector_count(l2_.write(access.line, access.wanted));
      return;
    case AccessPattern::Kind::load:
    case AccessPattern::Kind::load_bypassing_l1:
      play_load(access, quantum, side, counts);
      if (!access.last) return;
      count(loads_[access.instruction], side.slowest, 1.0);
      side.slowest = Source::l1;
      return;
  }
}

void CacheReplay::play_load(const L2Access& access, std::uint32_t quantum, L2Side& side,
                            WaveCounts& counts) {
  Source& slowest = side.slowest;
  if (access.in_l1 != 0) {
    if (const Fill* fill = side.fills.find(access.line, quantum)) {
      if ((fill->from_dram & access.in_l1) != 0) {
        slowest = std::max(slowest, Source::shared_dram);
      } else if ((fill->from_l2 & access.in_l1) != 0) {
        slowest = std::max(slowest, Source::shared_l2);
      }
    }
  }
  if (access.wanted == 0) return;
  const std::uint32_t in_l2 = l2_.read(access.line, access.wanted);
  const std::uint32_t missing = access.wanted & ~in_l2;
  slowest = std::max(slowest, missing == 0 ? Source::l2 : Source::dram);
  Fill& fill = side.fills.add(access.line, quantum);
  fill.from_l2 = static_cast<std::uint8_t>(fill.from_l2 | in_l2);
  fill.from_dram = static_cast<std::uint8_t>(fill.from_dram | missing);
  counts.l2_read_sectors += sector_count(access.wanted);
  counts.l2_hit_sectors += sector_count(in_l2);
  counts.dram_read_sectors += sector_count(missing);
}

void CacheReplay::count(LoadService& service, Source source, double requests) {
  switch (source) {
    case Source::l1:
      service.l1 += requests;
      break;
    case Source::shared_l2:
      service.shared_l2 += requests;
      break;
    case Source::l2:
      service.l2 += requests;
      break;
    case Source::shared_dram:
      service.shared_dram += requests;
      break;
    case Source::dram:
      service.dram += requests;
      break;
  }
}

}  // namespace regraph::ptx
