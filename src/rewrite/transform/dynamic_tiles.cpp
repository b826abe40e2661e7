#include "rewrite/transform/dynamic_tiles.h"

#include "rewrite/analysis/shared_memory.h"
#include "rewrite/analysis/vector_type.h"
#include "rewrite/forms/names.h"
#include "source/build.h"
#include "source/walk.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

namespace regraph::rewrite {

namespace {

// Tiles begin where wide accesses may.
std::int64_t rounded(std::int64_t bytes) {
  return (bytes + kWidestAccess - 1) / kWidestAccess * kWidestAccess;
}

class DynamicMemory {
 public:
  DynamicMemory(const Unit& unit, const std::vector<Variable>& tiles) {
    Names names(unit.kernel);
    std::int64_t bytes = 0;
    for (const Variable& tile : tiles) {
      // Unlike a static array it has one name for the whole unit.
      std::string name = tile.name;
      while (unit.before.find(name) != std::string::npos ||
             unit.after.find(name) != std::string::npos) {
        name = names.fresh(tile.name);
      }
      const auto size = static_cast<std::int64_t>(size_in_bytes(*tile.scalar));
      places_[tile.name] = {std::move(name), tile, bytes / size};
      bytes += rounded(bytes_of(tile));
    }
  }

  Block moved(const Block& body) const {
    return rewrite_expressions(
        rewrite_statements(body, [&](const StmtPtr& stmt) { return declared(stmt); }),
        [&](const ExprPtr& expr) { return element(expr); });
  }

 private:
  struct Place {
    std::string name;
    Variable tile;
    std::int64_t first = 0;  // element
  };

  std::optional<Block> declared(const StmtPtr& stmt) const {
    const auto* declaration = as<Declaration>(stmt);
    if (declaration == nullptr) return std::nullopt;
    const auto place = places_.find(declaration->variable.name);
    if (place == places_.end()) return std::nullopt;
    Variable tile = declaration->variable;
    tile.name = place->second.name;
    tile.storage = Storage::dynamic_shared;
    tile.extents = {0};
    tile.alignment = std::max(tile.alignment, static_cast<int>(kWidestAccess));
    return Block{declare(std::move(tile), nullptr)};
  }

  // tile[i][j] as tile[first + i * columns + j].
  std::optional<ExprPtr> element(const ExprPtr& expr) const {
    if (!is<Subscript>(*expr)) return std::nullopt;
    const auto* base = base_variable(*expr);
    const auto found = base != nullptr ? places_.find(base->name) : places_.end();
    if (found == places_.end()) return std::nullopt;
    const Place& place = found->second;
    std::vector<ExprPtr> indices = indices_of(*expr);
    ExprPtr number = integer(place.first);
    std::int64_t below = 1;
    for (const std::int64_t extent : place.tile.extents)
      below *= extent;
    for (std::size_t d = 0; d < indices.size(); ++d) {
      below /= place.tile.extents[d];
      const ExprPtr index =
          rewrite_expr(indices[d], [&](const ExprPtr& inner) { return element(inner); });
      number = add(number, multiply(index, integer(below)));
    }
    return source::element(variable(place.name, place.tile.scalar), {number});
  }

  std::map<std::string, Place> places_;
};

}  // namespace

std::int64_t dynamic_bytes(const std::vector<Variable>& tiles) {
  std::int64_t bytes = 0;
  for (const Variable& tile : tiles)
    bytes += rounded(bytes_of(tile));
  return bytes;
}

DynamicTiles with_dynamic_tiles(const Unit& unit, const std::vector<Variable>& tiles) {
  return {DynamicMemory(unit, tiles).moved(unit.kernel.body), dynamic_bytes(tiles)};
}

}  // namespace regraph::rewrite
