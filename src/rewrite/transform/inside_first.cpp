#include "rewrite/transform/inside_first.h"

#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <memory>
#include <optional>

namespace regraph::rewrite {

namespace {

bool is_either(const ExprPtr& condition) {
  return as_binary(condition, BinaryOperator::logical_or) != nullptr;
}

std::optional<ExprPtr> turned_round(const ExprPtr& expr) {
  const auto* choice = as<Conditional>(expr);
  if (choice == nullptr || !is_either(choice->condition)) return std::nullopt;
  return std::make_shared<Conditional>(negate(choice->condition),
                                       rewrite_expr(choice->otherwise, turned_round),
                                       rewrite_expr(choice->then, turned_round), choice->type);
}

}  // namespace

Block with_inside_first(const Block& block) {
  return rewrite_statements(
      rewrite_expressions(block, turned_round), [](const StmtPtr& stmt) -> std::optional<Block> {
        const auto* branch = as<Branch>(stmt);
        if (branch == nullptr || branch->otherwise.empty() || !is_either(branch->condition))
          return std::nullopt;
        return Block{source::branch(negate(branch->condition), with_inside_first(branch->otherwise),
                                    with_inside_first(branch->body), stmt->line)};
      });
}

}  // namespace regraph::rewrite
