#include "rewrite/analysis/mentions.h"

#include "source/match.h"
#include "source/walk.h"

#include <algorithm>

namespace regraph::rewrite {

bool is_mentioned(const ExprPtr& expr, const std::string& name) {
  return any_expression(expr, [&](const Expr& node) { return is_named(node, name); });
}

bool is_mentioned(const Block& block, const std::string& name) {
  return any_expression(block, [&](const Expr& node) { return is_named(node, name); });
}

int count_mentions(const Block& block, const std::string& name) {
  int count = 0;
  walk_expressions(block, [&](const Expr& expr) { count += is_named(expr, name) ? 1 : 0; });
  return count;
}

std::set<std::string> assigned_names(const Block& block) {
  std::set<std::string> names;
  walk(block, [&](const Stmt& stmt) {
    const ExprPtr& target = target_of(stmt);
    const auto* place = target ? place_variable(*target) : nullptr;
    if (place != nullptr) names.insert(place->name);
  });
  return names;
}

std::set<std::string> given_names(const Block& block) {
  std::set<std::string> names = declared_names(block);
  names.merge(assigned_names(block));
  return names;
}

bool share_a_name(const std::set<std::string>& names, const std::set<std::string>& others) {
  return std::ranges::any_of(names, [&](const std::string& name) { return others.contains(name); });
}

}  // namespace regraph::rewrite
