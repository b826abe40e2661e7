// The units in which global memory is moved.
#pragma once

#include <array>
#include <cstdint>

namespace regraph::ptx {

inline constexpr std::uint64_t kSectorBytes = 32;
inline constexpr std::uint64_t kLineBytes = 128;

// How many of a line's sectors a mask has. A table: processors of the oldest kind that this is
// built for have no instruction for it.
[[nodiscard]] inline std::uint32_t sector_count(std::uint32_t sectors) {
  constexpr std::array<std::uint8_t, 1U << (kLineBytes / kSectorBytes)> kCounts = {
      0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
  return kCounts[sectors % kCounts.size()];
}

}  // namespace regraph::ptx
