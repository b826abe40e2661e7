#include "rewrite/analysis/window_array.h"

#include "source/build.h"

#include <string>

namespace regraph::rewrite {

std::int64_t WindowArray::elements() const {
  std::int64_t result = 1;
  for (const std::int64_t extent : extents)
    result *= extent;
  return result;
}

Variable WindowArray::variable() const {
  std::vector<std::int64_t> padded = extents;
  padded.back() += padding;
  Variable result = local_variable(tile, type, scalar, padded);
  result.storage = Storage::shared;
  // Aligned although no row is made of whole vectors, a compiler may read beyond the last element.
  const auto row_bytes = padded.back() * static_cast<std::int64_t>(size_in_bytes(scalar));
  if (!follows_threads && row_bytes % kFilterVectorBytes == 0)
    result.alignment = static_cast<int>(kFilterVectorBytes);
  return result;
}

std::string coordinate_symbol(std::size_t dimension) {
  return "#" + std::to_string(dimension);
}

std::optional<std::vector<Polynomial>> tile_coordinates(const WindowArray& array,
                                                        const ExprPtr& index,
                                                        const NeighbourhoodFinder& finder) {
  if (array.follows_threads) {
    Neighbourhood box;
    box.strides = array.strides;
    box.lowest = array.lowest;
    box.extents = array.extents;
    box.base = array.base;
    return finder.coordinates(index, box);
  }
  const auto polynomial = finder.local_polynomial(index);
  if (!polynomial) return std::nullopt;
  Polynomial rest = *polynomial - array.base;
  std::vector<Polynomial> result;
  for (std::size_t d = 0; d < array.counters.size(); ++d) {
    Polynomial coordinate =
        array.counters[d].empty() ? Polynomial() : Polynomial::symbol(array.counters[d]);
    rest = rest - array.strides[d] * coordinate;
    if (array.counters[d].empty()) {
      if (!rest.constant()) return std::nullopt;
      coordinate = rest;
      rest = Polynomial();
    }
    result.push_back(coordinate - Polynomial(array.lowest[d]));
  }
  if (!rest.is_zero()) return std::nullopt;
  return result;
}

}  // namespace regraph::rewrite
