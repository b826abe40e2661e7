// Which block of a launch writes an element, learnt from a few blocks.
//
// Most kernels move what a block writes by the same distance from one block to the next along an
// axis of the grid. From an inner block and its neighbours come the distances; every other block
// then writes what the inner block writes, moved, or a part of it at the edge:
//
//     written(b) = written(m) + (b - m).x * stride.x + (b - m).y * stride.y + (b - m).z * stride.z
#pragma once

#include "eval/verify/bench_run.h"
#include "kernel/launch_plan.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace regraph::verify {

// The block of a grid that others are compared with, and its neighbours along each axis: all inner
// ones where the grid is large enough. An axis of one block has no neighbour.
struct Neighbourhood {
  std::uint64_t middle = 0;
  std::array<std::optional<std::uint64_t>, 3> next;
};
[[nodiscard]] Neighbourhood neighbourhood_of(const Dim3& grid);

class BlockMap {
 public:
  // Of a launch with `grid`; `records` must hold those of its neighbourhood. Arguments whose
  // elements do not move alike are left out.
  BlockMap(const Dim3& grid, std::size_t arguments, const std::vector<const BlockRecord*>& records);

  // Whether the record's block wrote nothing but what it should.
  [[nodiscard]] bool explains(const BlockRecord& record) const;

  // Blocks that write the element, unless they end before it, in order; at most eight. `certain`,
  // if not null: whether no other block should write it.
  [[nodiscard]] std::vector<std::uint64_t> blocks_of(std::uint32_t argument, std::uint64_t element,
                                                     bool* certain = nullptr) const;

 private:
  struct Range {
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };
  struct Shape {
    bool known = false;
    std::vector<Range> ranges;           // relative to the first element
    std::int64_t first = 0;              // of block (0, 0, 0)
    std::array<std::int64_t, 3> stride;  // from block to block
  };
  [[nodiscard]] std::int64_t first_of(const Shape& shape, std::uint64_t block) const;
  [[nodiscard]] static bool holds(const Shape& shape, std::int64_t offset);

  Dim3 grid_;
  std::vector<Shape> shapes_;  // by argument
};

}  // namespace regraph::verify
