// Coalescing and bank conflicts of one warp request.
#include "ptx/memory/block_context.h"
#include "ptx/memory/sectors.h"

#include <algorithm>
#include <array>

namespace regraph::ptx {
namespace {

constexpr std::uint32_t kBanks = 32;

// A small open-addressed set of what one request touches; at most 32 lanes x 2 granules.
class TouchedSet {
 public:
  // Returns whether the value is new.
  bool insert(std::uint64_t value) {
    std::size_t slot = (value * 0x9E3779B97F4A7C15ULL) >> 57;
    while (used_[slot]) {
      if (values_[slot] == value) return false;
      slot = (slot + 1) % kSlots;
    }
    used_[slot] = true;
    values_[slot] = value;
    return true;
  }

 private:
  static constexpr std::size_t kSlots = 128;
  std::array<std::uint64_t, kSlots> values_;
  std::array<bool, kSlots> used_ = {};
};

// The most distinct 4-byte words that the lanes in `mask` want of one bank.
std::uint32_t bank_passes(const std::uint64_t* addresses, std::uint32_t mask, std::uint32_t words) {
  TouchedSet touched;
  std::array<std::uint32_t, kBanks> per_bank = {};
  std::uint32_t passes = 0;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(__builtin_ctz(rest));
    const std::uint64_t first = addresses[lane] / 4;
    for (std::uint64_t word = first; word < first + words; ++word) {
      if (touched.insert(word)) passes = std::max(passes, ++per_bank[word % kBanks]);
    }
  }
  return passes;
}

// Whether every active lane's address equals that of lane ^ distance.
bool pairs_agree(const std::uint64_t* addresses, std::uint32_t mask, std::uint32_t distance) {
  for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    const std::uint32_t other = lane ^ distance;
    if (((mask >> lane) & (mask >> other) & 1U) == 0) continue;
    if (addresses[lane] != addresses[other]) return false;
  }
  return true;
}

struct Wavefronts {
  std::uint32_t taken = 0;
  std::uint32_t without_conflicts = 0;
};

Wavefronts count_wavefronts(const std::uint64_t* addresses, std::uint32_t mask,
                            std::uint32_t bytes) {
  if (bytes <= 4) return {bank_passes(addresses, mask, 1), mask != 0 ? 1U : 0U};
  // 8 bytes a lane: two half warps; 16 bytes: four quarters, two of them together when neighbouring
  // lanes read the same 16 bytes.
  const std::uint32_t groups = bytes == 8 ? 2 : 4;
  const std::uint32_t lanes_a_group = kWarpLanes / groups;
  Wavefronts wavefronts;
  for (std::uint32_t group = 0; group < groups; ++group) {
    const std::uint32_t lanes = mask & (((1U << lanes_a_group) - 1U) << (group * lanes_a_group));
    if (lanes == 0) continue;
    wavefronts.taken += bank_passes(addresses, lanes, bytes / 4);
    ++wavefronts.without_conflicts;
  }
  if (groups == 4 && wavefronts.taken > 1 &&
      (pairs_agree(addresses, mask, 1) || pairs_agree(addresses, mask, 2))) {
    wavefronts.taken = (wavefronts.taken + 1) / 2;
    wavefronts.without_conflicts = (wavefronts.without_conflicts + 1) / 2;
  }
  return wavefronts;
}

}  // namespace

RequestCost request_cost(const std::uint64_t* addresses, std::uint32_t mask, std::uint32_t bytes) {
  RequestCost cost;
  TouchedSet sectors;
  TouchedSet lines;
  // Addresses are multiples of the width, so lanes want the same bytes or none in common.
  TouchedSet distinct;
  std::uint32_t wanted = 0;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const std::uint64_t address = addresses[__builtin_ctz(rest)];
    const std::uint64_t last = address + bytes - 1;
    if (distinct.insert(address)) wanted += bytes;
    for (std::uint64_t sector = address / kSectorBytes; sector <= last / kSectorBytes; ++sector) {
      if (!sectors.insert(sector)) continue;
      ++cost.sectors;
      if (lines.insert(sector * kSectorBytes / kLineBytes)) ++cost.lines;
    }
  }
  const Wavefronts wavefronts = count_wavefronts(addresses, mask, bytes);
  cost.wavefronts = wavefronts.taken;
  cost.ideal_wavefronts = wavefronts.without_conflicts;
  constexpr auto kSector = static_cast<std::uint32_t>(kSectorBytes);
  cost.ideal_sectors = (wanted + kSector - 1) / kSector;
  cost.uniform = wanted == bytes && (mask & (mask - 1)) != 0 ? 1 : 0;
  return cost;
}

void add_requests(RequestTotals& totals, const RequestCost& cost, std::uint64_t times) {
  totals.requests += times;
  totals.sectors += times * cost.sectors;
  totals.lines += times * cost.lines;
  totals.wavefronts += times * cost.wavefronts;
  totals.ideal_sectors += times * cost.ideal_sectors;
  totals.ideal_wavefronts += times * cost.ideal_wavefronts;
  totals.uniform += times * cost.uniform;
}

LaneMeetings lane_meetings(const std::uint64_t* addresses, std::uint32_t mask,
                           std::uint32_t bytes) {
  LaneMeetings meetings;
  std::array<std::uint32_t, kBanks> per_bank = {};
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const std::uint64_t address = addresses[__builtin_ctz(rest)];
    for (std::uint64_t word = address / 4; word <= (address + bytes - 1) / 4; ++word)
      meetings.bank_lanes = std::max(meetings.bank_lanes, ++per_bank[word % kBanks]);
    std::uint32_t same = 0;
    for (std::uint32_t other = mask; other != 0; other &= other - 1)
      same += addresses[__builtin_ctz(other)] == address ? 1 : 0;
    meetings.word_lanes = std::max(meetings.word_lanes, same);
  }
  return meetings;
}

}  // namespace regraph::ptx
