// The box of an array that a block reads around its threads' own positions. Used by smem_halo.
//
//   in[(y + dy) * w + x + dx], y = blockIdx.y * 16 + threadIdx.y, dy = -1 .. 1, ...
//   strides {w, 1}, corner coordinates {-1, -1}, extents {18, 18}, base: index of (0, 0)
#pragma once

#include "affine/access_map.h"
#include "affine/ir.h"
#include "base/result.h"
#include "kernel/launch_plan.h"
#include "source/analysis.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace regraph::affine {

// Directions of a box, at most, by what they are called: the last ones where there are fewer.
inline constexpr std::array<const char*, 4> kDirections = {"volume", "plane", "row", "column"};

struct Neighbourhood {
  std::string array;
  AccessMap box;            // its base is the same for the block; terms are left out
  std::int64_t reads = 0;   // by the whole block
  bool wide_index = false;  // some index of the original is 64-bit
};

// Counters that take a number of values from 0 on, whatever their loops say.
using CounterRanges = std::map<std::string, std::int64_t>;

// Finds boxes and the place of an access in them.
class NeighbourhoodFinder {
 public:
  NeighbourhoodFinder(const Kernel& kernel, const Analysis& analysis, const Dim3& block,
                      CounterRanges counters = {})
      : kernel_(kernel), analysis_(analysis), block_(block), counters_(std::move(counters)) {}

  // The box of all accesses to the array. Error: refused, with what stands against staging it.
  [[nodiscard]] Result<Neighbourhood> find(const std::string& array) const;
  // The box of those accesses alone. Error: refused, with what stands against staging them.
  [[nodiscard]] Result<Neighbourhood> find(const std::string& array,
                                           const std::vector<ExprPtr>& indices) const;

  // Coordinates of an access, counted from the box's first element.
  [[nodiscard]] std::optional<std::vector<Polynomial>> coordinates(const ExprPtr& index,
                                                                   const AccessMap& box) const;

  // The index with the block's extents as numbers, without axes along which the block is one thread
  // wide; nothing where it is no polynomial.
  [[nodiscard]] std::optional<Polynomial> local_polynomial(const ExprPtr& index) const;
  // Whether the symbol takes different values within a block: a thread index or a counter.
  [[nodiscard]] bool is_local(const std::string& symbol) const;
  // Values that a local symbol takes.
  [[nodiscard]] std::int64_t count_of(const std::string& symbol) const;

 private:
  struct Axis {
    std::string symbol;  // threadIdx.x, ...
    std::int64_t count;
  };
  struct Range {
    std::int64_t first;
    std::int64_t last;
    std::int64_t count;
  };
  // One access of the array, and how often a thread makes it.
  struct Read {
    Polynomial index;
    std::int64_t repeats;
  };
  struct Bounds {
    std::int64_t lowest = 0;
    std::int64_t highest = 0;
  };

  [[nodiscard]] std::vector<Axis> axes() const;
  [[nodiscard]] Result<Neighbourhood> box_of(const std::vector<Read>& reads) const;
  // Where threads are several rows apart and loops go by one of them, the direction is the row.
  void refine_by_loops(const Polynomial& index, std::vector<Polynomial>& strides) const;
  // Threads or iterations along the longest direction.
  [[nodiscard]] std::int64_t widest_row(const Polynomial& index) const;
  [[nodiscard]] Read read_at(const Polynomial& index) const;
  // Values of a loop variable with constant bounds.
  [[nodiscard]] std::optional<Range> range_of(const std::string& variable) const;
  // All accesses of the array; `wide_index` is set when an index is 64-bit. Error: refused.
  [[nodiscard]] Result<std::vector<Read>> reads_of(const std::string& array,
                                                   bool& wide_index) const;
  // The directions in which an index moves with the block's axes, largest first. Error: refused.
  [[nodiscard]] Result<std::vector<Polynomial>> strides_of_threads(const Polynomial& index) const;
  // Adds directions in which loops and fixed distances from `base` lead beyond `strides`.
  void extend_by_loops(const Polynomial& index, const Polynomial& base,
                       std::vector<Polynomial>& strides) const;
  [[nodiscard]] Bounds bounds_of(const Polynomial& coordinate) const;
  // Coordinates counted from `base`.
  [[nodiscard]] Result<std::vector<Polynomial>> place(const Polynomial& index,
                                                      const std::vector<Polynomial>& strides,
                                                      const Polynomial& base) const;

  const Kernel& kernel_;
  const Analysis& analysis_;
  Dim3 block_;
  CounterRanges counters_;
};

}  // namespace regraph::affine
