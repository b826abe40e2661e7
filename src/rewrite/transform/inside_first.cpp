#include "rewrite/transform/inside_first.h"

#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <memory>
#include <optional>

namespace regraph::rewrite {

using source::as;
using source::Block;
using source::ExprPtr;
using source::StmtPtr;

namespace {

bool is_either(const ExprPtr& condition) {
  return source::as_binary(condition, source::BinaryOperator::logical_or) != nullptr;
}

std::optional<ExprPtr> turned_round(const ExprPtr& expr) {
  const auto* choice = as<source::Conditional>(expr);
  if (choice == nullptr || !is_either(choice->condition)) return std::nullopt;
  return std::make_shared<source::Conditional>(
      source::negate(choice->condition), source::rewrite_expr(choice->otherwise, turned_round),
      source::rewrite_expr(choice->then, turned_round), choice->type);
}

}  // namespace

Block with_inside_first(const Block& block) {
  return source::rewrite_statements(
      source::rewrite_expressions(block, turned_round),
      [](const StmtPtr& stmt) -> std::optional<Block> {
        const auto* branch = as<source::Branch>(stmt);
        if (branch == nullptr || branch->otherwise.empty() || !is_either(branch->condition))
          return std::nullopt;
        return Block{source::branch(source::negate(branch->condition),
                                    with_inside_first(branch->otherwise),
                                    with_inside_first(branch->body), stmt->line)};
      });
}

}  // namespace regraph::rewrite
