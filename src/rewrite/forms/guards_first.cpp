#include "rewrite/forms/guards_first.h"

#include "source/build.h"
#include "source/match.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <memory>
#include <optional>

namespace regraph::rewrite {

namespace {

bool is_zero_value(ExprPtr value) {
  while (const auto* converted = as<Cast>(value))
    value = converted->operand;
  if (const auto* literal = as<FloatingLiteral>(value))
    return literal->spelling.find_first_of("123456789xX") == std::string::npos;
  return source::is_number(value, 0);
}

bool asks_for_opposite(const ExprPtr& condition) {
  return any_expression(condition, [](const Expr& part) {
    const auto* op = as<Unary>(part);
    return op != nullptr && op->op == UnaryOperator::logical_not;
  });
}

// The expression with all such choices within turned round.
ExprPtr turned(const ExprPtr& expr) {
  return rewrite_expr(expr, [](const ExprPtr& part) -> std::optional<ExprPtr> {
    const auto* choice = as<Conditional>(part);
    if (choice == nullptr || !is_zero_value(choice->then) || is_zero_value(choice->otherwise))
      return std::nullopt;
    ExprPtr guard = negate(turned(choice->condition));
    if (asks_for_opposite(guard)) return std::nullopt;
    return std::make_shared<Conditional>(std::move(guard), turned(choice->otherwise), choice->then,
                                         choice->type);
  });
}

class GuardTurner final : public Mutator {
 public:
  using Mutator::run;

 private:
  using Mutator::mutate;
  StmtPtr mutate(const StmtPtr& stmt, const Branch& choice) override {
    if (!choice.body.empty() || choice.otherwise.empty()) return Mutator::mutate(stmt, choice);
    return branch(negate(choice.condition), run(choice.otherwise), {}, choice.line);
  }
};

}  // namespace

Block with_guards_first(const Block& body) {
  return GuardTurner().run(rewrite_expressions(
      body, [](const ExprPtr& expr) -> std::optional<ExprPtr> { return turned(expr); }));
}

}  // namespace regraph::rewrite
