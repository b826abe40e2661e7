// Traversal and rebuilding of the IR with functions, where a class derived from Visitor or Mutator
// would say no more.
#pragma once

#include "source/ir.h"

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace regraph::source {

// Calls `visit` for `expr` and every expression below it, parents first. Null is skipped.
void walk(const ExprPtr& expr, const std::function<void(const Expr&)>& visit);

// Calls `visit` for every statement in the block and below, parents first, in program order. Loop
// headers' init and step count as statements.
void walk(const Block& block, const std::function<void(const Stmt&)>& visit);

// Calls `visit` for every expression of every statement in the block and below. Assignment targets
// are included.
void walk_expressions(const Block& block, const std::function<void(const Expr&)>& visit);
// The expressions of this statement itself, not of the blocks below it.
void walk_own_expressions(const Stmt& stmt, const std::function<void(const Expr&)>& visit);

// Whether `test` holds for `expr` or an expression below it; of nothing for null.
[[nodiscard]] bool any_expression(const ExprPtr& expr,
                                  const std::function<bool(const Expr&)>& test);
// The same of the expressions of the block's statements, and of this statement itself.
[[nodiscard]] bool any_expression(const Block& block, const std::function<bool(const Expr&)>& test);
[[nodiscard]] bool any_own_expression(const Stmt& stmt,
                                      const std::function<bool(const Expr&)>& test);
// Whether `test` holds for a statement in the block or below, loop headers' included.
[[nodiscard]] bool any_statement(const Block& block, const std::function<bool(const Stmt&)>& test);
// Whether `test` holds for all of these.
[[nodiscard]] bool all_expressions(const ExprPtr& expr,
                                   const std::function<bool(const Expr&)>& test);
[[nodiscard]] bool all_expressions(const Block& block,
                                   const std::function<bool(const Expr&)>& test);
[[nodiscard]] bool all_statements(const Block& block, const std::function<bool(const Stmt&)>& test);

// Rebuilds `expr`: where `rewrite` returns an expression it replaces the node (and is not descended
// into), elsewhere operands are rebuilt. Shares what does not change.
using ExprRewrite = std::function<std::optional<ExprPtr>(const ExprPtr&)>;
[[nodiscard]] ExprPtr rewrite_expr(const ExprPtr& expr, const ExprRewrite& rewrite);

// Rebuilds every expression of the block.
[[nodiscard]] Block rewrite_expressions(const Block& block, const ExprRewrite& rewrite);

// Rebuilds the block: where `rewrite` returns a block it replaces the statement (and is not
// descended into), elsewhere the blocks below are rebuilt.
using StmtRewrite = std::function<std::optional<Block>(const StmtPtr&)>;
[[nodiscard]] Block rewrite_statements(const Block& block, const StmtRewrite& rewrite);

// Calls `visit` for the statements that a statement has besides its blocks: a loop header's.
template <typename Visit>
void for_each_header(const Stmt& stmt, const Visit& visit) {
  const auto* loop = as<ForLoop>(stmt);
  if (loop != nullptr && loop->init) visit(loop->init);
  if (loop != nullptr && loop->step) visit(loop->step);
}

// Replaces variables by expressions, by name.
[[nodiscard]] ExprRewrite replace_variable(std::string name, ExprPtr replacement);

// Structural equality (types are ignored).
[[nodiscard]] bool equal(const ExprPtr& a, const ExprPtr& b);
[[nodiscard]] bool equal(const StmtPtr& a, const StmtPtr& b);
[[nodiscard]] bool equal(const Block& a, const Block& b);

// Names of the variables read or written in the expression.
[[nodiscard]] std::set<std::string> variables_of(const ExprPtr& expr);
// The same of the expressions of the block's statements.
[[nodiscard]] std::set<std::string> variables_of(const Block& block);
// Every name declared in the block or below, loop variables included.
[[nodiscard]] std::set<std::string> declared_names(const Block& block);
// Names that the kernel declares or mentions, of functions too.
[[nodiscard]] std::set<std::string> used_names(const Kernel& kernel);
// `stem`, or `stem` with the smallest number that makes it unused in the kernel.
[[nodiscard]] std::string fresh_name(const Kernel& kernel, const std::string& stem);

// Calls `visit` for what the expression itself gives away, so that somebody else may change it: the
// operand of &, and arguments that are passed by reference.
template <typename Visit>
void for_each_passed_place(const Expr& expr, const Visit& visit) {
  if (const auto* unary = as<Unary>(expr);
      unary != nullptr && unary->op == UnaryOperator::address_of) {
    visit(*unary->operand);
  }
  if (const auto* call = as<Call>(expr)) {
    for (const std::size_t at : call->by_reference) {
      if (at < call->arguments.size()) visit(*call->arguments[at]);
    }
  }
}

// The variable at the bottom of an index chain (A for A[i][j]), or null for anything else.
[[nodiscard]] const VariableReference* base_variable(const Expr& expr);
// The variable that elements, members, casts and addresses are of, one around the other; null for
// anything else. `((float4*)&x[i])[0].y` is of x.
[[nodiscard]] const VariableReference* place_variable(const Expr& place);
// The indices of an index chain, outermost first.
[[nodiscard]] std::vector<ExprPtr> indices_of(const Expr& expr);

}  // namespace regraph::source
