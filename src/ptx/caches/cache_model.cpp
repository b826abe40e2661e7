#include "ptx/caches/cache_model.h"

#include "ptx/memory/sectors.h"

#include <algorithm>

namespace regraph::ptx {
namespace {}  // namespace

SectoredCache::SectoredCache(std::uint64_t bytes, int ways)
    : way_count_(std::max(ways, 1)),
      set_count_(static_cast<std::uint32_t>(std::max<std::uint64_t>(
          bytes / kLineBytes / static_cast<std::uint64_t>(std::max(ways, 1)), 1))) {
  const std::size_t count =
      static_cast<std::size_t>(set_count_) * static_cast<std::size_t>(way_count_);
  tags_.resize(count);
  last_use_.resize(count);
  states_.resize(count);
}

SectoredCache::State& SectoredCache::find_or_replace(std::uint64_t line) {
  const std::size_t first = set_of(line) * static_cast<std::size_t>(way_count_);
  const auto ways = static_cast<std::size_t>(way_count_);
  const auto tag = static_cast<std::uint32_t>(line);
  const std::uint32_t* tags = &tags_[first];
  std::uint32_t* last_use = &last_use_[first];
  ++clock_;
  for (std::size_t way = 0; way < ways; ++way) {
    if (tags[way] == tag && last_use[way] != 0) {  // 0: never filled
      last_use[way] = clock_;
      return states_[first + way];
    }
  }
  std::size_t oldest = 0;
  for (std::size_t way = 1; way < ways; ++way) {
    if (last_use[way] < last_use[oldest]) oldest = way;
  }
  tags_[first + oldest] = tag;
  last_use[oldest] = clock_;
  states_[first + oldest] = State{};
  return states_[first + oldest];
}

std::uint32_t SectoredCache::read(std::uint64_t line, std::uint32_t sectors) {
  State& state = find_or_replace(line);
  const std::uint32_t hit = state.valid & sectors;
  state.valid = static_cast<std::uint8_t>(state.valid | sectors);
  return hit;
}

std::uint32_t SectoredCache::write(std::uint64_t line, std::uint32_t sectors) {
  State& state = find_or_replace(line);
  const std::uint32_t fresh = sectors & ~static_cast<std::uint32_t>(state.dirty);
  state.valid = static_cast<std::uint8_t>(state.valid | sectors);
  state.dirty = static_cast<std::uint8_t>(state.dirty | sectors);
  return fresh;
}

void SectoredCache::clear() {
  std::fill(last_use_.begin(), last_use_.end(), 0U);
  std::fill(states_.begin(), states_.end(), State{});
}

}  // namespace regraph::ptx
