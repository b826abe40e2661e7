#include "rewrite/analysis/window_array.h"

#include "source/build.h"

#include <string>

namespace regraph::rewrite {

std::string coordinate_symbol(std::size_t dimension) {
  return "#" + std::to_string(dimension);
}

std::optional<std::vector<Polynomial>> tile_coordinates(const WindowArray& array,
                                                        const ExprPtr& index,
                                                        const NeighbourhoodFinder& finder) {
  if (array.follows_threads) return finder.coordinates(index, array.box);
  const auto polynomial = finder.local_polynomial(index);
  if (!polynomial) return std::nullopt;
  Polynomial rest = *polynomial - array.box.base;
  std::vector<Polynomial> result;
  for (std::size_t d = 0; d < array.counters.size(); ++d) {
    Polynomial coordinate =
        array.counters[d].empty() ? Polynomial() : Polynomial::symbol(array.counters[d]);
    rest = rest - array.box.dimensions[d].stride * coordinate;
    if (array.counters[d].empty()) {
      if (!rest.constant()) return std::nullopt;
      coordinate = rest;
      rest = Polynomial();
    }
    result.push_back(coordinate - Polynomial(array.box.dimensions[d].lowest));
  }
  if (!rest.is_zero()) return std::nullopt;
  return result;
}

}  // namespace regraph::rewrite
