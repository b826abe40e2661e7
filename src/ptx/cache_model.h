// A sectored set-associative cache: 128-byte lines of four 32-byte sectors, least recently used
// line replaced.
#pragma once

#include <cstdint>
#include <vector>

namespace regraph::ptx {

class SectoredCache {
 public:
  SectoredCache(std::uint64_t bytes, int ways);

  // Reads sectors of a line (bit i: sector i), allocating what is missing. Returns those that hit.
  std::uint32_t read(std::uint64_t line, std::uint32_t sectors);
  // Marks sectors written, allocating the line without fetching. Returns those not dirty before.
  std::uint32_t write(std::uint64_t line, std::uint32_t sectors);
  void clear();

 private:
  struct Way {
    std::uint64_t line = kNoLine;
    std::uint32_t last_use = 0;
    std::uint8_t valid = 0;
    std::uint8_t dirty = 0;
  };
  static constexpr std::uint64_t kNoLine = ~0ULL;

  Way& find_or_replace(std::uint64_t line);

  int way_count_;
  std::uint32_t set_count_;
  std::uint32_t clock_ = 0;
  std::vector<Way> ways_;
};

}  // namespace regraph::ptx
