#include "rewrite/forms/uses.h"

#include "source/known_functions.h"
#include "source/match.h"

#include <algorithm>

namespace regraph::rewrite {

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

std::set<std::string> mentioned_names(const Block& block) {
  std::set<std::string> names;
  walk_expressions(block, [&](const Expr& expr) {
    if (const auto* variable = as<VariableReference>(expr)) names.insert(variable->name);
  });
  return names;
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
  bool kept = true;
  walk(value, [&](const Expr& part) {
    const auto* variable = as<VariableReference>(part);
    kept = kept && !is<Subscript>(part) && !is<Call>(part) && !is<Member>(part) &&
           !is<OpaqueExpression>(part) &&
           (variable == nullptr || !changed.contains(variable->name));
  });
  return kept;
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
  bool result = true;
  walk(value, [&](const Expr& part) {
    const auto* call = as<Call>(part);
    result = result && (call == nullptr || is_pure(*call));
  });
  return result;
}

bool is_integral(const ExprPtr& value) {
  return value->type && !is_floating(*value->type);
}

bool holds_any(const Block& block, std::initializer_list<StmtKind> kinds) {
  bool found = false;
  walk(block, [&](const Stmt& stmt) {
    found = found || std::find(kinds.begin(), kinds.end(), stmt.kind()) != kinds.end();
  });
  return found;
}

}  // namespace regraph::rewrite
