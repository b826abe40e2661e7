#include "rewrite/forms/unused_names.h"

#include "source/known_functions.h"
#include "source/walk.h"

#include <optional>
#include <set>
#include <string>
#include <utility>

namespace regraph::rewrite {

namespace {

bool does_nothing(const ExprPtr& value) {
  bool result = true;
  walk(value, [&](const Expr& expr) {
    const auto* call = as<Call>(expr);
    result = result && (call == nullptr || is_pure(*call));
  });
  return result;
}

std::set<std::string> mentioned_names(const Block& body) {
  std::set<std::string> names;
  walk_expressions(body, [&](const Expr& expr) {
    if (const auto* variable = as<VariableReference>(expr)) names.insert(variable->name);
  });
  return names;
}

}  // namespace

Block without_unused_names(const Kernel& kernel) {
  Block body = kernel.body;
  for (;;) {
    const std::set<std::string> mentioned = mentioned_names(body);
    Block rest = rewrite_statements(body, [&](const StmtPtr& stmt) -> std::optional<Block> {
      const auto* declared = as<Declaration>(stmt);
      const bool goes = declared != nullptr && !mentioned.contains(declared->variable.name) &&
                        does_nothing(declared->value);
      return goes ? std::optional(Block()) : std::nullopt;
    });
    if (rest == body) return body;
    body = std::move(rest);
  }
}

}  // namespace regraph::rewrite
