#include "rewrite/forms/uses.h"

#include "source/known_functions.h"
#include "source/match.h"

#include <algorithm>

namespace regraph::rewrite {

bool is_mentioned(const ExprPtr& expr, const std::string& name) {
  return any_expression(expr, [&](const Expr& node) { return is_named(node, name); });
}

bool is_mentioned(const Block& block, const std::string& name) {
  return any_expression(block, [&](const Expr& node) { return is_named(node, name); });
}

int mentions_of(const std::string& name, const ExprPtr& expr) {
  int mentions = 0;
  walk(expr, [&](const Expr& part) { mentions += is_named(part, name) ? 1 : 0; });
  return mentions;
}

int mentions_of(const std::string& name, const Block& block) {
  int mentions = 0;
  walk_expressions(block, [&](const Expr& part) { mentions += is_named(part, name) ? 1 : 0; });
  return mentions;
}

std::set<std::string> changed_names(const Block& block) {
  std::set<std::string> names;
  for_each_changed_place(block, [&](const Expr& place) {
    if (const auto* variable = place_variable(place)) names.insert(variable->name);
  });
  return names;
}

std::set<std::string> given_values_in(const Block& block) {
  std::set<std::string> names = declared_names(block);
  names.merge(changed_names(block));
  return names;
}

std::set<std::string> reassigned_names(const Block& block) {
  std::set<std::string> names;
  for_each_changed_place(block, [&](const Expr& place) {
    if (const auto* variable = as<VariableReference>(place)) names.insert(variable->name);
  });
  return names;
}

int changes_of(const std::string& name, const Block& block) {
  int changes = 0;
  for_each_changed_place(block, [&](const Expr& place) {
    const auto* variable = place_variable(place);
    changes += variable != nullptr && variable->name == name ? 1 : 0;
  });
  return changes;
}

bool is_kept(const ExprPtr& value, const std::set<std::string>& changed) {
  return all_expressions(value, [&](const Expr& part) {
    const auto* variable = as<VariableReference>(part);
    return !is<Subscript>(part) && !is<Call>(part) && !is<Member>(part) &&
           !is<OpaqueExpression>(part) &&
           (variable == nullptr || !changed.contains(variable->name));
  });
}

bool is_fixed(const ExprPtr& value, const Analysis& analysis) {
  if (analysis.reads_memory(value)) return false;
  const std::set<std::string> names = variables_of(value);
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return analysis.local(name) != nullptr ? analysis.is_single_definition(name)
                                           : !analysis.is_written(name);
  });
}

bool is_computation(const ExprPtr& value) {
  return all_expressions(value, [](const Expr& part) {
    const auto* call = as<Call>(part);
    return call == nullptr || is_pure(*call);
  });
}

bool is_integral(const ExprPtr& value) {
  return value->type && !is_floating(*value->type);
}

bool holds_any(const Block& block, std::initializer_list<StmtKind> kinds) {
  return any_statement(block, [&](const Stmt& stmt) {
    return std::find(kinds.begin(), kinds.end(), stmt.kind()) != kinds.end();
  });
}

bool share_a_name(const std::set<std::string>& names, const std::set<std::string>& others) {
  return std::ranges::any_of(names, [&](const std::string& name) { return others.contains(name); });
}

}  // namespace regraph::rewrite
