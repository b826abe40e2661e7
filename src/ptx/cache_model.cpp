#include "ptx/cache_model.h"

#include <algorithm>

namespace regraph::ptx {
namespace {

constexpr std::uint64_t kLineBytes = 128;

}  // namespace

SectoredCache::SectoredCache(std::uint64_t bytes, int ways)
    : way_count_(std::max(ways, 1)),
      set_count_(static_cast<std::uint32_t>(std::max<std::uint64_t>(
          bytes / kLineBytes / static_cast<std::uint64_t>(std::max(ways, 1)), 1))),
      ways_(static_cast<std::size_t>(set_count_) * static_cast<std::size_t>(way_count_)) {}

SectoredCache::Way& SectoredCache::find_or_replace(std::uint64_t line) {
  // Folding higher address bits in spreads power-of-two strides over the sets, as hardware hashes
  // do.
  const std::uint64_t folded = line ^ (line >> 9) ^ (line >> 17) ^ (line >> 27);
  const std::uint32_t set = static_cast<std::uint32_t>(folded) % set_count_;
  Way* ways = ways_.data() + static_cast<std::size_t>(set) * static_cast<std::size_t>(way_count_);
  ++clock_;
  Way* oldest = ways;
  for (Way* way = ways; way < ways + way_count_; ++way) {
    if (way->line == line) {
      way->last_use = clock_;
      return *way;
    }
    if (way->last_use < oldest->last_use) oldest = way;
  }
  *oldest = Way{line, clock_, 0, 0};
  return *oldest;
}

std::uint32_t SectoredCache::read(std::uint64_t line, std::uint32_t sectors) {
  Way& way = find_or_replace(line);
  const std::uint32_t hit = way.valid & sectors;
  way.valid = static_cast<std::uint8_t>(way.valid | sectors);
  return hit;
}

std::uint32_t SectoredCache::write(std::uint64_t line, std::uint32_t sectors) {
  Way& way = find_or_replace(line);
  const std::uint32_t fresh = sectors & ~static_cast<std::uint32_t>(way.dirty);
  way.valid = static_cast<std::uint8_t>(way.valid | sectors);
  way.dirty = static_cast<std::uint8_t>(way.dirty | sectors);
  return fresh;
}

void SectoredCache::clear() {
  std::fill(ways_.begin(), ways_.end(), Way{});
}

}  // namespace regraph::ptx
