#include "rewrite/transform/unused_integers.h"

#include "source/walk.h"

#include <set>
#include <string>

namespace regraph::rewrite {

bool is_of_integers(const ExprPtr& value) {
  return all_expressions(value, [&](const Expr& part) {
    return is<Binary>(part) || is<Cast>(part) || is<VariableReference>(part) ||
           is<Conditional>(part) || is<IntegerLiteral>(part) || is<Builtin>(part);
  });
}

Block without_unused_integers(Block body) {
  for (bool changed = true; changed;) {
    changed = false;
    std::set<std::string> used;
    walk_expressions(body, [&](const Expr& expr) {
      if (const auto* variable = as<VariableReference>(expr)) used.insert(variable->name);
    });
    body = rewrite_statements(body, [&](const StmtPtr& stmt) -> std::optional<Block> {
      const auto* declaration = as<Declaration>(stmt);
      const bool is_unused = declaration != nullptr && declaration->value &&
                             !is<IntegerLiteral>(declaration->value) &&
                             declaration->variable.scalar == ScalarType::i32 &&
                             !used.contains(declaration->variable.name);
      if (!is_unused || !is_of_integers(declaration->value)) return std::nullopt;
      changed = true;
      return Block();
    });
  }
  return body;
}

}  // namespace regraph::rewrite
