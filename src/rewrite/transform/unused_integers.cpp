#include "rewrite/transform/unused_integers.h"

#include "rewrite/forms/unused_names.h"
#include "source/walk.h"

#include <utility>

namespace regraph::rewrite {

bool is_of_integers(const ExprPtr& value) {
  return all_expressions(value, [&](const Expr& part) {
    return is<Binary>(part) || is<Cast>(part) || is<VariableReference>(part) ||
           is<Conditional>(part) || is<IntegerLiteral>(part) || is<Builtin>(part);
  });
}

Block without_unused_integers(Block body) {
  return without_unused(std::move(body), [](const Declaration& declaration) {
    return declaration.value && !is<IntegerLiteral>(declaration.value) &&
           declaration.variable.scalar == ScalarType::i32 && is_of_integers(declaration.value);
  });
}

}  // namespace regraph::rewrite
