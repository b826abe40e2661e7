// How one array that a window reads lies in shared memory. Used by window_tile.
#pragma once

#include "affine/neighbourhood.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace regraph::rewrite {

// Filters are read by vectors of so many bytes where their rows are made of whole ones.
constexpr std::int64_t kFilterVectorBytes = 16;

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
  std::vector<Polynomial> strides;    // between neighbours along the dimensions, in elements
  std::vector<std::int64_t> lowest;   // coordinates of the first element
  std::vector<std::int64_t> extents;
  std::int64_t padding = 0;  // elements at the end of the tile's rows that nothing uses
  Polynomial base;           // index of the element at coordinates 0, in the first strip
  Polynomial strip_pitch;    // added for every iteration before the strip
  ExprPtr count;             // elements of the buffer
  // Polynomials that are not negative where the original reads the element, over coordinates
  // (coordinate_symbol) counted from the first element; elsewhere the tile holds zeros. The strip's
  // counter in them is that of the strip's first iteration.
  std::vector<Polynomial> conditions;

  // Elements of the tile, without padding.
  [[nodiscard]] std::int64_t elements() const;
  // The tile's declaration.
  [[nodiscard]] Variable variable() const;
};

// Stands for the coordinate along a dimension in conditions.
[[nodiscard]] std::string coordinate_symbol(std::size_t dimension);

// Coordinates of an element of the array in its tile. Nothing where it has none.
[[nodiscard]] std::optional<std::vector<Polynomial>> tile_coordinates(
    const WindowArray& array, const ExprPtr& index, const NeighbourhoodFinder& finder);

}  // namespace regraph::rewrite
