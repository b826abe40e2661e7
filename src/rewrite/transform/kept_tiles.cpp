#include "rewrite/transform/kept_tiles.h"

#include "source/build.h"
#include "source/walk.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace regraph::rewrite {

using source::Block;
using source::ExprPtr;
using source::StmtPtr;

Block KeptTiles::kept(const Block& body, std::int64_t count,
                      const std::function<Block()>& loop) const {
  return source::rewrite_statements(body, [&](const StmtPtr& stmt) -> std::optional<Block> {
    if (stmt.get() == strips_.loop) return loop();
    const auto* declaration = source::as<source::Declaration>(stmt);
    if (declaration == nullptr || !is_tile(declaration->variable.name)) return std::nullopt;
    source::Variable copies = declaration->variable;
    copies.extents.insert(copies.extents.begin(), count);
    return Block{source::declare(std::move(copies), nullptr)};
  });
}

Block KeptTiles::on_tile(const Block& block, const ExprPtr& which) const {
  return source::rewrite_expressions(block, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
    const auto* variable = source::as<source::VariableReference>(expr);
    if (variable == nullptr || !is_tile(variable->name)) return std::nullopt;
    return source::element(expr, {which});
  });
}

Block KeptTiles::in_strip(const Block& block, const ExprPtr& first) const {
  return source::rewrite_expressions(block, source::replace_variable(strips_.counted.name, first));
}

ExprPtr KeptTiles::has_strip(const ExprPtr& first) const {
  ExprPtr condition = source::to<source::ForLoop>(*strips_.loop).condition;
  if (strips_.active) condition = source::both(condition, strips_.active);
  return source::rewrite_expr(condition, source::replace_variable(strips_.counted.name, first));
}

bool KeptTiles::is_tile(const std::string& name) const {
  return std::any_of(strips_.tiles.begin(), strips_.tiles.end(),
                     [&](const source::Variable& tile) { return tile.name == name; });
}

}  // namespace regraph::rewrite
