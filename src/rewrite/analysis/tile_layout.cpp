#include "rewrite/analysis/tile_layout.h"

#include "rewrite/analysis/vector_type.h"

#include <algorithm>
#include <cstdint>

namespace regraph::rewrite {

namespace {

// Whether a thread reads neighbours along the dimension in a loop over its copies.
bool runs_along(const FootprintDimension& dimension, const std::string& contraction,
                const LocalSymbols& locals) {
  constexpr std::int64_t kShortestRun = 4;
  return std::any_of(dimension.terms.begin(), dimension.terms.end(), [&](const auto& term) {
    const auto& [symbol, factor] = term;
    return factor == 1 && symbol != contraction && !symbol.starts_with("threadIdx") &&
           locals.at(symbol) % kShortestRun == 0;
  });
}

}  // namespace

void lay_out_tile(StagedArray& array, const std::string& contraction, const LocalSymbols& locals,
                  bool keeps_layout) {
  const std::size_t rank = array.footprint.dimensions.size();
  if (rank < 2) return;
  const FootprintDimension& rows = array.footprint.dimensions[rank - 2];
  const FootprintDimension& columns = array.footprint.dimensions[rank - 1];
  const std::int64_t width =
      kWidestAccess / static_cast<std::int64_t>(size_in_bytes(*array.scalar));
  if (keeps_layout) {
    // Threads read vectors of neighbouring rows at once. These lie in different banks when a row is
    // an odd number of vectors long.
    const bool is_even = columns.extent % (2 * width) == 0;
    if (is_even && columns.terms.contains(contraction)) array.padding = width;
    return;
  }
  // Rows of the tile follow what a thread reads one after another, so that it can read several at
  // once; the padding keeps them aligned and apart.
  array.transposed =
      runs_along(rows, contraction, locals) && !runs_along(columns, contraction, locals);
  if (array.transposed) array.padding = width;
}

}  // namespace regraph::rewrite
