#include "rewrite/transform/unused_integers.h"

#include "rewrite/forms/unused_names.h"
#include "source/walk.h"

#include <utility>

namespace regraph::rewrite {

bool is_of_integers(const ExprPtr& value) {
  bool result = true;
  walk(value, [&](const Expr& part) {
    result = result && (is<Binary>(part) || is<Cast>(part) || is<VariableReference>(part) ||
                        is<Conditional>(part) || is<IntegerLiteral>(part) || is<Builtin>(part));
  });
  return result;
}

Block without_unused_integers(Block body) {
  return without_unused(std::move(body), [](const Declaration& declaration) {
    return declaration.value && !is<IntegerLiteral>(declaration.value) &&
           declaration.variable.scalar == ScalarType::i32 && is_of_integers(declaration.value);
  });
}

}  // namespace regraph::rewrite
