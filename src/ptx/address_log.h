// Which global memory a run accessed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

namespace regraph::ptx {

// Global memory that a run accessed: ranges of device addresses. An access that continues a range
// makes it longer. Once there are many, places that were accessed not long before are left out, so
// that a sum which is kept in memory costs one range.
struct AddressLog {
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;  // one past the last byte
  };
  std::vector<Range> ranges;
  std::size_t most_ranges = std::size_t{1} << 22;
  bool full = false;  // there were more ranges than that; the last ones are missing
  // Buffers of which only the first and the last place matter, in the order of their addresses:
  // `within` has one range for each then, empty where nothing was accessed, and `ranges` what is in
  // none of them. However often memory is touched, that takes no more room.
  std::vector<Range> buffers;
  std::vector<Range> within;

  void add(std::uint64_t address, std::uint64_t bytes) {
    if (!buffers.empty() && add_within(address, bytes)) return;
    if (!ranges.empty() && ranges.back().end == address) {
      ranges.back().end += bytes;
      return;
    }
    if (ranges.size() < std::min(kFew, most_ranges)) {
      ranges.push_back({address, address + bytes});
      return;
    }
    add_to_many(address, bytes);
  }

  // Forgets what was accessed; limits and `buffers` stay.
  void clear() {
    ranges.clear();
    within.clear();
    recent_.clear();
    ending_.clear();
    full = false;
  }

 private:
  // Logs with fewer ranges cost less than looking for the right one.
  static constexpr std::size_t kFew = 1024;
  // Room for what the threads of a block keep in memory, a dozen values each.
  static constexpr unsigned kSlotBits = 14;

  static std::size_t slot_of(std::uint64_t address) {
    constexpr std::uint64_t kGolden = 0x9e37'79b9'7f4a'7c15;  // multiplicative hashing
    return address * kGolden >> (64 - kSlotBits);
  }

  void add_to_many(std::uint64_t address, std::uint64_t bytes) {
    recent_.resize(std::size_t{1} << kSlotBits);
    ending_.resize(std::size_t{1} << kSlotBits);
    const std::uint64_t end = address + bytes;
    Range& recent = recent_[slot_of(address)];
    if (recent.begin == address && recent.end >= end) return;
    recent = {address, end};
    // Each thread goes through a row of its own.
    std::uint32_t index = ending_[slot_of(address)];
    if (index < ranges.size() && ranges[index].end == address) {
      ranges[index].end = end;
    } else if (ranges.size() < most_ranges) {
      index = static_cast<std::uint32_t>(ranges.size());
      ranges.push_back({address, end});
    } else {
      full = true;
      return;
    }
    ending_[slot_of(end)] = index;
  }

  bool add_within(std::uint64_t address, std::uint64_t bytes) {
    const auto after = std::ranges::upper_bound(buffers, address, {}, &Range::begin);
    if (after == buffers.begin() || address >= std::prev(after)->end) return false;
    within.resize(buffers.size());
    Range& range = within[static_cast<std::size_t>(std::prev(after) - buffers.begin())];
    if (range.begin == range.end) range = {address, address};
    range.begin = std::min(range.begin, address);
    range.end = std::max(range.end, address + bytes);
    return true;
  }

  // Direct-mapped, by the first address, and by the end of the ranges with these numbers.
  std::vector<Range> recent_;
  std::vector<std::uint32_t> ending_;
};

}  // namespace regraph::ptx
