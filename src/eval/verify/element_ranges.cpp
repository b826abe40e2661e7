#include "eval/verify/element_ranges.h"

#include <utility>

namespace regraph::verify {

void join(std::vector<ElementRange>& ranges) {
  std::sort(ranges.begin(), ranges.end());
  std::size_t kept = 0;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (kept > 0 && ranges[kept - 1].argument == ranges[i].argument &&
        ranges[kept - 1].end >= ranges[i].begin) {
      ranges[kept - 1].end = std::max(ranges[kept - 1].end, ranges[i].end);
    } else {
      ranges[kept++] = ranges[i];
    }
  }
  ranges.resize(kept);
}

std::uint64_t element_count(const std::vector<ElementRange>& ranges) {
  std::uint64_t count = 0;
  for (const ElementRange& range : ranges)
    count += range.end - range.begin;
  return count;
}

bool holds(const std::vector<ElementRange>& ranges, std::uint32_t argument, std::uint64_t element) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const ElementRange& range) {
    return range.argument == argument && element >= range.begin && element < range.end;
  });
}

std::vector<ElementRange> without(const std::vector<ElementRange>& ranges,
                                  const std::vector<ElementRange>& taken) {
  std::vector<ElementRange> left;
  for (ElementRange range : ranges) {
    auto next = std::lower_bound(
        taken.begin(), taken.end(), range, [](const ElementRange& a, const ElementRange& b) {
          return std::pair(a.argument, a.end) < std::pair(b.argument, b.begin + 1);
        });
    for (; next != taken.end() && next->argument == range.argument && next->begin < range.end;
         ++next) {
      if (next->begin > range.begin) left.push_back({range.argument, range.begin, next->begin});
      range.begin = std::min(next->end, range.end);
    }
    if (range.begin < range.end) left.push_back(range);
  }
  return left;
}

std::vector<ElementRange> common(const std::vector<ElementRange>& a,
                                 const std::vector<ElementRange>& b) {
  std::vector<ElementRange> both;
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    if (i->argument == j->argument && i->begin < j->end && j->begin < i->end) {
      both.push_back({i->argument, std::max(i->begin, j->begin), std::min(i->end, j->end)});
    }
    (std::pair(i->argument, i->end) < std::pair(j->argument, j->end) ? i : j)++;
  }
  return both;
}

}  // namespace regraph::verify
