#include "rewrite/analysis/first_thread.h"

#include "source/build.h"
#include "source/match.h"

namespace regraph::rewrite {

bool is_first_thread(const ExprPtr& condition, const PolynomialReader& polynomial) {
  const Polynomial thread = Polynomial::symbol("threadIdx.x");
  const auto* comparison = as<Binary>(condition);
  if (comparison == nullptr) {
    const auto* nothing = as_unary(condition, UnaryOperator::logical_not);
    const auto place = nothing != nullptr ? polynomial(nothing->operand) : std::nullopt;
    return place && *place == thread;
  }
  const auto left = polynomial(comparison->left);
  const auto right = polynomial(comparison->right);
  if (!left || !right || !(*left == thread)) return false;
  return (comparison->op == BinaryOperator::equal && right->constant() == 0) ||
         (comparison->op == BinaryOperator::less && right->constant() == 1);
}

}  // namespace regraph::rewrite
