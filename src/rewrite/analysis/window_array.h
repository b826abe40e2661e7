// How one array that a window reads lies in shared memory. Used by window_tile.
#pragma once

#include "affine/neighbourhood.h"
#include "rewrite/analysis/stage.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace regraph::rewrite {

// Filters are read by vectors of so many bytes where their rows are made of whole ones.
constexpr std::int64_t kFilterVectorBytes = 16;

// What follows the threads is a box around them; what is the same for all of them, a filter, has a
// dimension for each counter that it follows.
struct WindowArray : Stage {
  bool follows_threads = false;
  // Of a filter: a dimension each; empty, the last one: distances between its reads.
  std::vector<std::string> counters;
  Polynomial strip_pitch;  // added to an index for every iteration before the strip
  // Polynomials that are not negative where the original reads the element, over coordinates
  // (coordinate_symbol) counted from the first element. The strip's counter in them is that of the
  // strip's first iteration.
  std::vector<Polynomial> conditions;
};

// Stands for the coordinate along a dimension in conditions.
[[nodiscard]] std::string coordinate_symbol(std::size_t dimension);

// Coordinates of an element of the array in its tile. Nothing where it has none.
[[nodiscard]] std::optional<std::vector<Polynomial>> tile_coordinates(
    const WindowArray& array, const ExprPtr& index, const NeighbourhoodFinder& finder);

}  // namespace regraph::rewrite
