#include "rewrite/transform/unused_integers.h"

#include "source/walk.h"

#include <set>
#include <string>

namespace regraph::rewrite {

using source::as;
using source::Block;
using source::Declaration;
using source::Expr;
using source::is;
using source::StmtPtr;

bool is_of_integers(const source::ExprPtr& value) {
  bool result = true;
  source::walk(value, [&](const Expr& part) {
    result = result && (is<source::Binary>(part) || is<source::Cast>(part) ||
                        is<source::VariableReference>(part) || is<source::Conditional>(part) ||
                        is<source::IntegerLiteral>(part) || is<source::Builtin>(part));
  });
  return result;
}

Block without_unused_integers(Block body) {
  for (bool changed = true; changed;) {
    changed = false;
    std::set<std::string> used;
    source::walk_expressions(body, [&](const Expr& expr) {
      if (const auto* variable = as<source::VariableReference>(expr)) used.insert(variable->name);
    });
    body = source::rewrite_statements(body, [&](const StmtPtr& stmt) -> std::optional<Block> {
      const auto* declaration = as<Declaration>(stmt);
      const bool is_unused = declaration != nullptr && declaration->value &&
                             !is<source::IntegerLiteral>(declaration->value) &&
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
