#include "ptx/caches/atomic_contention.h"

#include "ptx/memory/sectors.h"

#include <algorithm>
#include <utility>

namespace regraph::ptx {

void AtomicContention::add(const std::uint64_t* addresses, std::uint32_t mask, std::uint32_t bytes,
                           AtomicTraits traits, std::uint64_t buffer_begin,
                           std::uint64_t buffer_bytes) {
  if (mask == 0 || bytes == 0 || requests_++ >= kMostRequests) return;
  buffers_[buffer_begin] = buffer_bytes;
  constexpr std::uint64_t kWord = 4;
  std::vector<std::uint64_t> sorted;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const std::uint64_t address = addresses[__builtin_ctz(rest)];
    sorted.push_back(traits.swaps_words ? address / kWord * kWord : address);
  }
  std::sort(sorted.begin(), sorted.end());
  sums_.lanes += static_cast<double>(sorted.size());
  if (!traits.swaps_words) {
    // A lane's 8 bytes take as long as 4, and 16 as long as two such (bench/h200/atomics.txt,
    // vectors at 65,536 indexed counters and more).
    const auto operands = bytes <= kWord ? bytes : std::max(std::uint32_t{kWord}, bytes / 2);
    add_round(sorted, bytes, operands, traits);
    return;
  }
  traits.returns = true;
  while (!sorted.empty()) {
    // What is compared with and what is put there.
    add_round(sorted, kWord, 2 * kWord, traits);
    std::vector<std::uint64_t> lost;
    for (std::size_t i = 1; i < sorted.size(); ++i)
      if (sorted[i] == sorted[i - 1]) lost.push_back(sorted[i]);
    sorted = std::move(lost);
  }
}

void AtomicContention::add_round(const std::vector<std::uint64_t>& sorted, std::uint32_t bytes,
                                 std::uint32_t payload, AtomicTraits traits) {
  const std::size_t count = sorted.size();
  sums_.payload_bytes += static_cast<double>(count) * payload;
  const std::uint64_t words_a_sector = std::max<std::uint64_t>(kSectorBytes / bytes, 1);
  for (std::size_t first = 0; first < count;) {
    const std::uint64_t sector = sorted[first] / kSectorBytes;
    std::uint64_t words = 0;
    std::uint64_t most = 0;
    std::uint64_t least = ~std::uint64_t{0};
    std::size_t at = first;
    while (at < count && sorted[at] / kSectorBytes == sector) {
      std::size_t next = at;
      while (next < count && sorted[next] == sorted[at])
        ++next;
      most = std::max<std::uint64_t>(most, next - at);
      least = std::min<std::uint64_t>(least, next - at);
      ++words;
      at = next;
    }
    const std::uint64_t full = words == words_a_sector ? least : 0;
    Passes& stretch = stretches_[sector * kSectorBytes / kStretchBytes];
    stretch.full += full;
    stretch.partial += most - full;
    if (traits.floating) floating_sectors_[sector] += most;
    sums_.sector_operations += 1.0;
    if (traits.returns) sums_.returning_sector_operations += 1.0;
    first = at;
  }
}

void AtomicContention::clear() {
  *this = AtomicContention{};
}

void AtomicTraffic::scale(double factor) {
  for (double* sum : {&lanes, &payload_bytes, &sector_operations, &returning_sector_operations,
                      &hottest_full_passes, &hottest_partial_passes, &hottest_floating_passes}) {
    *sum *= factor;
  }
}

AtomicTraffic AtomicContention::traffic() const {
  AtomicTraffic result = sums_;
  // Ties go to the lowest address, so that the result does not depend on the table's order.
  std::uint64_t most = 0;
  std::uint64_t place = 0;
  for (const auto& [stretch, passes] : stretches_) {
    const std::uint64_t all = passes.full + passes.partial;
    if (all < most || (all == most && stretch > place)) continue;
    most = all;
    place = stretch;
    result.hottest_full_passes = static_cast<double>(passes.full);
    result.hottest_partial_passes = static_cast<double>(passes.partial);
  }
  for (const auto& [sector, passes] : floating_sectors_) {
    result.hottest_floating_passes =
        std::max(result.hottest_floating_passes, static_cast<double>(passes));
  }
  for (const auto& [begin, bytes] : buffers_)
    result.footprint_bytes += static_cast<double>(bytes);
  if (requests_ > kMostRequests) {
    result.scale(static_cast<double>(requests_) / static_cast<double>(kMostRequests));
  }
  return result;
}

}  // namespace regraph::ptx
