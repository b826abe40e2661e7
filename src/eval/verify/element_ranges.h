// Sets of elements of a plan's buffers, as stretches: sorted and apart unless said otherwise.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace regraph::verify {

// Elements [begin, end) of an argument's buffer.
struct ElementRange {
  std::uint32_t argument = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  auto operator<=>(const ElementRange&) const = default;  // NOLINT(modernize-use-nullptr)
};

// Sorts ranges and joins those that touch.
void join(std::vector<ElementRange>& ranges);
[[nodiscard]] std::uint64_t element_count(const std::vector<ElementRange>& ranges);
[[nodiscard]] bool holds(const std::vector<ElementRange>& ranges, std::uint32_t argument,
                         std::uint64_t element);
// What is left of `ranges` without `taken`.
[[nodiscard]] std::vector<ElementRange> without(const std::vector<ElementRange>& ranges,
                                                const std::vector<ElementRange>& taken);
// What both have.
[[nodiscard]] std::vector<ElementRange> common(const std::vector<ElementRange>& a,
                                               const std::vector<ElementRange>& b);

// Calls each(argument, element) for `count` elements of the ranges, evenly spread from the first to
// the last; for all when there are fewer.
template <typename Each>
void spread(const std::vector<ElementRange>& ranges, std::size_t count, const Each& each) {
  const std::uint64_t all = element_count(ranges);
  if (all == 0) return;
  const std::uint64_t wanted = std::min<std::uint64_t>(count, all);
  std::uint64_t before = 0;  // elements of the ranges before `range`
  auto range = ranges.begin();
  for (std::uint64_t i = 0; i < wanted; ++i) {
    const std::uint64_t at = wanted == 1 ? 0 : i * (all - 1) / (wanted - 1);
    for (; at - before >= range->end - range->begin; ++range)
      before += range->end - range->begin;
    each(range->argument, range->begin + (at - before));
  }
}

}  // namespace regraph::verify
