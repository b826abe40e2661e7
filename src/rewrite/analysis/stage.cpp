#include "rewrite/analysis/stage.h"

#include "rewrite/analysis/vector_type.h"
#include "source/build.h"

#include <utility>

namespace regraph::rewrite {

std::vector<std::int64_t> Stage::extents() const {
  std::vector<std::int64_t> result;
  for (std::size_t d = 0; d < box.dimensions.size(); ++d)
    result.push_back(box.dimensions[order.empty() ? d : order[d]].extent);
  result.back() += padding;
  return result;
}

Variable Stage::variable() const {
  Variable result = local_variable(tile, type, scalar, extents());
  result.storage = Storage::shared;
  if (is_aligned) result.alignment = static_cast<int>(kWidestAccess);
  return result;
}

ExprPtr Stage::element(const std::vector<ExprPtr>& at) const {
  std::vector<ExprPtr> indices;
  for (std::size_t d = 0; d < at.size(); ++d)
    indices.push_back(at[order.empty() ? d : order[d]]);
  return source::element(source::variable(tile, scalar), indices);
}

void fill_by_vectors(Stage& stage, int alignment, const SymbolFacts& facts) {
  if (!stage.scalar) return;
  const auto bytes = static_cast<std::int64_t>(size_in_bytes(*stage.scalar));
  for (std::int64_t width = kWidestAccess / bytes; width > 1; width /= 2) {
    AccessMap box = stage.box;
    Polynomial first = box.base + stage.strip_offset;
    for (const AccessDimension& dimension : box.dimensions)
      first = first + dimension.stride * Polynomial(dimension.lowest);
    const auto constant = first.terms().find({});
    const std::int64_t offset = constant == first.terms().end() ? 0 : constant->second;
    const std::int64_t beyond = (offset % width + width) % width;
    AccessDimension& row = box.dimensions.back();
    row.lowest -= beyond;
    row.extent = (row.extent + beyond + width - 1) / width * width;
    first = first - Polynomial(beyond);
    const auto vectors = vector_copy_of(box, first, *stage.scalar, alignment, facts);
    if (!vectors || vectors->width != width) continue;
    for (TileGuard& guard : stage.guards) {
      const Polynomial moved = Polynomial::symbol(stage.coordinates.back()) - Polynomial(beyond);
      guard.left = guard.left.substitute(stage.coordinates.back(), moved);
      guard.right = guard.right.substitute(stage.coordinates.back(), moved);
    }
    stage.box = std::move(box);
    stage.vectors = vectors;
    stage.is_aligned = true;
    return;
  }
}

}  // namespace regraph::rewrite
