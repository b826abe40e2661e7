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
  // Asks the host's processor for the place of a line that is wanted soon.
  void prefetch(std::uint64_t line) const {
    const std::size_t first = set_of(line) * static_cast<std::size_t>(way_count_);
    __builtin_prefetch(&tags_[first]);
    __builtin_prefetch(&last_use_[first]);
    __builtin_prefetch(&states_[first]);
  }

 private:
  struct State {
    std::uint8_t valid = 0;
    std::uint8_t dirty = 0;
  };
  [[nodiscard]] std::size_t set_of(std::uint64_t line) const {
    // Folding higher address bits in spreads power-of-two strides over the sets, as hardware hashes
    // do.
    const std::uint64_t folded = line ^ (line >> 9) ^ (line >> 17) ^ (line >> 27);
    return static_cast<std::uint32_t>(folded) % set_count_;
  }
  State& find_or_replace(std::uint64_t line);

  int way_count_;
  std::uint32_t set_count_;
  std::uint32_t clock_ = 0;
  // By set and way. A tag is the line's low 32 bits: lines 512 GiB apart do not meet. Apart from
  // each other, so that a look-up touches one or two of the host's cache lines.
  std::vector<std::uint32_t> tags_;
  std::vector<std::uint32_t> last_use_;
  std::vector<State> states_;
};

}  // namespace regraph::ptx
