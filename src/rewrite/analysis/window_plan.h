// What a nest of loops over a window reads from shared memory, and how it gets there. Used by
// window_tile.
#pragma once

#include "base/result.h"
#include "kernel/problem.h"
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/analysis/neighbourhood.h"
#include "rewrite/analysis/window_nest.h"

#include <optional>
#include <string>
#include <vector>

namespace regraph::rewrite {

// One array in shared memory. What follows the threads is a box around them; what is the same for
// all of them, a filter, has a dimension for each counter that it follows.
struct WindowArray {
  std::string name;
  std::string type;
  ScalarType scalar = ScalarType::f32;
  std::string tile;
  bool follows_threads = false;
  bool wide_index = false;
  std::vector<std::string> counters;  // of a filter: a dimension each, in the order of the tile
  std::vector<source::Polynomial> strides;  // between neighbours along the dimensions, in elements
  std::vector<std::int64_t> lowest;         // coordinates of the first element
  std::vector<std::int64_t> extents;
  std::int64_t padding = 0;        // elements at the end of the tile's rows that nothing uses
  source::Polynomial base;         // index of the element at coordinates 0, in the first strip
  source::Polynomial strip_pitch;  // added for every iteration before the strip
  source::ExprPtr count;           // elements of the buffer
  // Polynomials that are not negative where the original reads the element, over coordinates
  // (coordinate_symbol) counted from the first element; elsewhere the tile holds zeros.
  std::vector<source::Polynomial> conditions;

  [[nodiscard]] std::int64_t elements() const;
  [[nodiscard]] source::Variable variable() const;
};

// Stands for the coordinate along a dimension in conditions.
[[nodiscard]] std::string coordinate_symbol(std::size_t dimension);

struct WindowPlan {
  WindowNest nest;
  std::int64_t depth = 1;  // iterations of the strip loop that are staged at once
  std::vector<WindowArray> arrays;
  std::vector<std::size_t> order;  // of nest.loops in the new code, outermost first
  std::vector<bool> written_out;   // by loop of `order`: unrolled completely
  bool reorders = false;           // floating-point sums get another order
  bool may_meet_infinity = false;  // zeros stand for what guards skip: infinity * 0 is no zero

  [[nodiscard]] const WindowArray* array(const std::string& name) const;
};

// `depth`: iterations of an outer loop of unknown length that are staged at once; nothing where
// there must be no such loop. Error: refused, with the reason.
[[nodiscard]] Result<WindowPlan> plan_window(const KernelForm& form, const Dim3& block,
                                             const Problem& problem,
                                             std::optional<std::int64_t> depth);

// Coordinates of an element of the array in its tile. Nothing where it has none.
[[nodiscard]] std::optional<std::vector<source::Polynomial>> tile_coordinates(
    const WindowArray& array, const source::ExprPtr& index, const NeighbourhoodFinder& finder);

}  // namespace regraph::rewrite
