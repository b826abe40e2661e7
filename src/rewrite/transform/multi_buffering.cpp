#include "rewrite/transform/multi_buffering.h"

#include "source/build.h"
#include "source/walk.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace regraph::rewrite {

Block MultiBuffering::kept(const Block& body, std::int64_t count,
                           const std::function<Block()>& loop) const {
  return rewrite_statements(body, [&](const StmtPtr& stmt) -> std::optional<Block> {
    if (stmt.get() == strips_.loop) return loop();
    const auto* declaration = as<Declaration>(stmt);
    if (declaration == nullptr || !is_tile(declaration->variable.name)) return std::nullopt;
    Variable copies = declaration->variable;
    copies.extents.insert(copies.extents.begin(), count);
    return Block{declare(std::move(copies), nullptr)};
  });
}

Block MultiBuffering::on_tile(const Block& block, const ExprPtr& which) const {
  return rewrite_expressions(block, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
    const auto* variable = as<VariableReference>(expr);
    if (variable == nullptr || !is_tile(variable->name)) return std::nullopt;
    return element(expr, {which});
  });
}

Block MultiBuffering::in_strip(const Block& block, const ExprPtr& first) const {
  return rewrite_expressions(block, replace_variable(strips_.counted.name, first));
}

Block MultiBuffering::use_of(const ExprPtr& which) const {
  Block use = on_tile(strips_.use, which);
  if (strips_.active) use = {branch(strips_.active, std::move(use))};
  return use;
}

StmtPtr MultiBuffering::loop_around(Block body) const {
  const auto& loop = to<ForLoop>(*strips_.loop);
  return source::loop(loop.init, loop.condition, loop.step, std::move(body), loop.unroll);
}

ExprPtr MultiBuffering::has_strip(const ExprPtr& first) const {
  ExprPtr condition = to<ForLoop>(*strips_.loop).condition;
  if (strips_.active) condition = both(condition, strips_.active);
  return rewrite_expr(condition, replace_variable(strips_.counted.name, first));
}

bool MultiBuffering::is_tile(const std::string& name) const {
  return std::any_of(strips_.tiles.begin(), strips_.tiles.end(),
                     [&](const Variable& tile) { return tile.name == name; });
}

}  // namespace regraph::rewrite
