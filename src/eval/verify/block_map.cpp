#include "eval/verify/block_map.h"

#include <algorithm>

namespace regraph::verify {

namespace {

// Blocks that may write one element; more are not looked at.
constexpr std::size_t kMostWriters = 8;
// Rows of blocks that are searched for an element.
constexpr std::uint64_t kMostRows = std::uint64_t{1} << 16;
// Blocks of one row that are tried.
constexpr std::int64_t kMostTried = std::int64_t{1} << 14;

std::array<std::uint64_t, 3> coordinates(const Dim3& grid, std::uint64_t block) {
  return {block % grid.x, block / grid.x % grid.y, block / grid.x / grid.y};
}

std::vector<ElementRange> of_argument(const BlockRecord& record, std::size_t argument) {
  std::vector<ElementRange> ranges;
  for (const ElementRange& range : record.written) {
    if (range.argument == argument) ranges.push_back(range);
  }
  return ranges;
}

// The distance between two sets of elements that are the same but for it.
std::optional<std::int64_t> distance(const std::vector<ElementRange>& from,
                                     const std::vector<ElementRange>& to) {
  if (from.empty() || from.size() != to.size()) return std::nullopt;
  const std::uint64_t apart = to.front().begin - from.front().begin;  // modulo 2^64
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (to[i].begin - from[i].begin != apart || to[i].end - from[i].end != apart) {
      return std::nullopt;
    }
  }
  return static_cast<std::int64_t>(apart);
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

}  // namespace

Neighbourhood neighbourhood_of(const Dim3& grid) {
  // A third of the way, so that neither it nor the next is at the end.
  const auto inner = [](std::uint32_t extent) { return extent < 3 ? 0 : extent / 3; };
  const std::uint64_t x = inner(grid.x);
  const std::uint64_t y = inner(grid.y);
  const std::uint64_t z = inner(grid.z);
  Neighbourhood all;
  all.middle = (z * grid.y + y) * grid.x + x;
  if (grid.x > 1) all.next[0] = all.middle + 1;
  if (grid.y > 1) all.next[1] = all.middle + grid.x;
  if (grid.z > 1) all.next[2] = all.middle + std::uint64_t{grid.x} * grid.y;
  return all;
}

BlockMap::BlockMap(const Dim3& grid, std::size_t arguments,
                   const std::vector<const BlockRecord*>& records)
    : grid_(grid), shapes_(arguments) {
  const Neighbourhood near = neighbourhood_of(grid);
  const auto record_of = [&](std::uint64_t block) {
    const auto found = std::find_if(records.begin(), records.end(),
                                    [&](const BlockRecord* one) { return one->block == block; });
    return found == records.end() ? nullptr : *found;
  };
  const BlockRecord* middle = record_of(near.middle);
  if (middle == nullptr || !middle->all_writes_known) return;
  const std::array<std::uint64_t, 3> at = coordinates(grid, near.middle);
  for (std::size_t i = 0; i < arguments; ++i) {
    const std::vector<ElementRange> written = of_argument(*middle, i);
    if (written.empty()) continue;
    Shape shape;
    shape.known = true;
    shape.stride = {0, 0, 0};
    shape.first = static_cast<std::int64_t>(written.front().begin);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (!near.next[axis]) continue;
      const BlockRecord* next = record_of(*near.next[axis]);
      const auto stride = next == nullptr || !next->all_writes_known
                              ? std::nullopt
                              : distance(written, of_argument(*next, i));
      shape.known = shape.known && stride.has_value();
      if (!shape.known) break;
      shape.stride[axis] = *stride;
      shape.first -= *stride * static_cast<std::int64_t>(at[axis]);
    }
    if (!shape.known) continue;
    const auto begin = static_cast<std::int64_t>(written.front().begin);
    for (const ElementRange& range : written) {
      shape.ranges.push_back({static_cast<std::int64_t>(range.begin) - begin,
                              static_cast<std::int64_t>(range.end) - begin});
    }
    shapes_[i] = std::move(shape);
  }
}

std::int64_t BlockMap::first_of(const Shape& shape, std::uint64_t block) const {
  std::int64_t first = shape.first;
  const std::array<std::uint64_t, 3> at = coordinates(grid_, block);
  for (std::size_t axis = 0; axis < 3; ++axis)
    first += shape.stride[axis] * static_cast<std::int64_t>(at[axis]);
  return first;
}

bool BlockMap::holds(const Shape& shape, std::int64_t offset) {
  const auto after =
      std::upper_bound(shape.ranges.begin(), shape.ranges.end(), offset,
                       [](std::int64_t value, const Range& range) { return value < range.begin; });
  return after != shape.ranges.begin() && offset < std::prev(after)->end;
}

bool BlockMap::explains(const BlockRecord& record) const {
  if (!record.all_writes_known) return false;
  return std::all_of(record.written.begin(), record.written.end(), [&](const ElementRange& range) {
    const Shape& shape = shapes_[range.argument];
    if (!shape.known) return false;
    const std::int64_t first = first_of(shape, record.block);
    // A range may continue over several of the middle block's that touch after moving.
    return holds(shape, static_cast<std::int64_t>(range.begin) - first) &&
           holds(shape, static_cast<std::int64_t>(range.end) - 1 - first);
  });
}

std::vector<std::uint64_t> BlockMap::blocks_of(std::uint32_t argument, std::uint64_t element,
                                               bool* certain) const {
  std::vector<std::uint64_t> blocks;
  const Shape& shape = shapes_[argument];
  const std::uint64_t rows = std::uint64_t{grid_.y} * grid_.z;
  bool complete = shape.known && rows <= kMostRows;
  if (certain != nullptr) *certain = complete;
  if (!complete) return blocks;
  const std::int64_t span = shape.ranges.back().end - 1;  // offsets are 0..span
  const std::int64_t step = shape.stride[0];
  for (std::uint64_t row = 0; row < rows && blocks.size() < kMostWriters; ++row) {
    const std::int64_t offset =
        static_cast<std::int64_t>(element) - first_of(shape, row * grid_.x);  // at x = 0
    // 0 <= offset - x * step <= span
    std::int64_t low = 0;
    std::int64_t high = static_cast<std::int64_t>(grid_.x) - 1;
    if (step == 0) {
      high = 0;
    } else {
      const std::int64_t one_end = floor_divide(step > 0 ? offset : offset - span, step);
      const std::int64_t other_end = -floor_divide(-(step > 0 ? offset - span : offset), step);
      low = std::max(low, std::min(one_end, other_end));
      high = std::min(high, std::max(one_end, other_end));
      complete = complete && high <= low + kMostTried;
      high = std::min(high, low + kMostTried);
    }
    for (std::int64_t x = low; x <= high && blocks.size() < kMostWriters; ++x) {
      if (holds(shape, offset - x * step)) {
        blocks.push_back(row * grid_.x + static_cast<std::uint64_t>(x));
      }
    }
  }
  if (certain != nullptr) *certain = complete && blocks.size() < kMostWriters;
  return blocks;
}

}  // namespace regraph::verify
