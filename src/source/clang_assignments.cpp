// Assignments, steps and calls of a kernel -> IR, with what expressions do besides
// (clang_statements.h).
#include "source/build.h"
#include "source/clang_effects.h"
#include "source/clang_statements.h"
#include "source/walk.h"

#include <clang/AST/ExprCXX.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace regraph::source {
namespace {

using clang::dyn_cast;
using clang::isa;

// Opaque text may hold effects that are among those separated.
bool holds_opaque(const ExprPtr& value, const SideEffects& effects) {
  bool found = false;
  const auto look = [&](const Expr& expr) { found = found || is<OpaqueExpression>(expr); };
  walk(value, look);
  walk_expressions(effects.before, look);
  walk_expressions(effects.after, look);
  return found;
}

}  // namespace

ExprPtr StatementConverter::value_of(const clang::Expr* expr, Block& block, Block* after) {
  take_calls(expr, &block);
  if (!takes_apart_ || !has_effects(*expr)) return expressions_.convert(expr);
  SideEffects effects;
  effects.separable = separable_effects(*expr);
  effects.may_follow = after != nullptr;
  ExprPtr value = expressions_.convert(expr, effects);
  if (holds_opaque(value, effects)) return expressions_.convert(expr);
  block.insert(block.end(), effects.before.begin(), effects.before.end());
  if (after != nullptr) after->insert(after->end(), effects.after.begin(), effects.after.end());
  return value;
}

const clang::BinaryOperator* StatementConverter::chain_of(const clang::Expr* value) {
  const auto* inner = dyn_cast<clang::BinaryOperator>(value->IgnoreParenImpCasts());
  const bool is_chain = inner != nullptr && inner->getOpcode() == clang::BO_Assign &&
                        !has_effects(*inner->getLHS()) &&
                        !inner->getLHS()->getType().isVolatileQualified();
  if (!is_chain) return nullptr;
  return !has_effects(*inner->getRHS()) || chain_of(inner->getRHS()) != nullptr ? inner : nullptr;
}

ExprPtr StatementConverter::value_of_chain(const clang::BinaryOperator* inner, Block& block) {
  const clang::Expr* from = inner->getRHS()->IgnoreParenImpCasts();
  const auto* next = chain_of(from);
  const ExprPtr assigned =
      next != nullptr ? value_of_chain(next, block) : expressions_.convert(from);
  ExprPtr target = expressions_.convert(inner->getLHS());
  block.push_back(at(inner->getBeginLoc(),
                     std::make_shared<Assignment>(target, AssignmentOperator::assign, assigned)));
  const auto* negative = dyn_cast<clang::UnaryOperator>(from);
  if (negative != nullptr && negative->getOpcode() == clang::UO_Minus)
    from = negative->getSubExpr()->IgnoreParenImpCasts();
  const bool is_simple = isa<clang::DeclRefExpr>(from) || isa<clang::IntegerLiteral>(from) ||
                         isa<clang::FloatingLiteral>(from);
  const bool is_same = expressions_.context().hasSameUnqualifiedType(
      inner->getLHS()->getType(), inner->getRHS()->IgnoreParenImpCasts()->getType());
  return is_simple && is_same ? assigned : target;
}

StmtPtr StatementConverter::assignment(const clang::Expr* whole, const clang::Expr* target,
                                       const std::string& op, const clang::Expr* value,
                                       Block& block, Block& after) {
  take_calls(target, &block);
  take_calls(value, &block);
  const bool has_more = has_effects(*target) || (value != nullptr && has_effects(*value));
  if (!has_more) {
    const ExprPtr assigned = expressions_.convert(target);
    return at(
        whole->getBeginLoc(),
        std::make_shared<Assignment>(assigned, *assignment_operator(op),
                                     value != nullptr ? expressions_.convert(value) : integer(1)));
  }
  if (!takes_apart_) return nullptr;
  const auto* chain = value != nullptr && !has_effects(*target) ? chain_of(value) : nullptr;
  if (chain != nullptr) {
    ExprPtr from = value_of_chain(chain, block);
    return at(whole->getBeginLoc(),
              std::make_shared<Assignment>(expressions_.convert(target), *assignment_operator(op),
                                           std::move(from)));
  }
  // All of it is one expression: what is changed in one part is nowhere else.
  SideEffects effects;
  effects.separable = separable_effects(*whole);
  effects.may_follow = true;
  ExprPtr from = integer(1);
  if (value != nullptr) from = expressions_.convert(value, effects);
  ExprPtr assigned = expressions_.convert(target, effects);
  if (holds_opaque(from, effects) || holds_opaque(assigned, effects)) return nullptr;
  block.insert(block.end(), effects.before.begin(), effects.before.end());
  after.insert(after.end(), effects.after.begin(), effects.after.end());
  return at(
      whole->getBeginLoc(),
      std::make_shared<Assignment>(std::move(assigned), *assignment_operator(op), std::move(from)));
}

StmtPtr StatementConverter::plain_statement(const clang::CallExpr& call,
                                            const clang::FunctionDecl& callee, Block& block) {
  const auto* name = callee.getIdentifier();
  if (name == nullptr) return nullptr;
  const std::string_view word(name->getName().data(), name->getName().size());
  constexpr auto kStores =
      std::to_array<std::string_view>({"__stcs", "__stcg", "__stwb", "__stwt"});
  if (std::ranges::find(kStores, word) != kStores.end() && call.getNumArgs() == 2 &&
      !has_effects(*call.getArg(0)) && !has_effects(*call.getArg(1))) {
    take_calls(call.getArg(1), &block);
    ExprPtr value = expressions_.convert(call.getArg(1));
    return at(call.getBeginLoc(),
              std::make_shared<Assignment>(expressions_.place_behind(*call.getArg(0)),
                                           AssignmentOperator::assign, std::move(value)));
  }
  // sincosf(x, &s, &c): the same numbers as of the two functions.
  if ((word == "sincosf" || word == "sincos" || word == "__sincosf") && call.getNumArgs() == 3 &&
      !has_effects(*call.getArg(0))) {
    const std::string suffix = word == "sincos" ? "" : "f";
    const std::string prefix = word == "__sincosf" ? "__" : "";
    take_calls(call.getArg(0), &block);
    const auto scalar = scalar_type_of(callee.getParamDecl(0)->getType());
    const std::string angle = declare_result("angle", callee.getParamDecl(0)->getType(),
                                             expressions_.convert(call.getArg(0)), true, block);
    const auto of_angle = [&](const char* function) {
      return with_type(source::call(prefix + function + suffix, {variable(angle, scalar)}), scalar);
    };
    block.push_back(at(call.getBeginLoc(),
                       std::make_shared<Assignment>(expressions_.place_behind(*call.getArg(1)),
                                                    AssignmentOperator::assign, of_angle("sin"))));
    return at(call.getBeginLoc(),
              std::make_shared<Assignment>(expressions_.place_behind(*call.getArg(2)),
                                           AssignmentOperator::assign, of_angle("cos")));
  }
  return nullptr;
}

StmtPtr StatementConverter::convert_effect(const clang::Expr* expr, Block& block, Block& after) {
  const clang::Expr* inner = expr->IgnoreParenImpCasts();
  if (const auto* full = dyn_cast<clang::FullExpr>(inner))
    return convert_effect(full->getSubExpr(), block, after);
  if (const auto* op = dyn_cast<clang::BinaryOperator>(inner);
      op != nullptr && op->isAssignmentOp()) {
    return assignment(inner, op->getLHS(), op->getOpcodeStr().str(), op->getRHS(), block, after);
  }
  if (const auto* op = dyn_cast<clang::CXXOperatorCallExpr>(inner);
      opens_ && op != nullptr && op->isAssignmentOp() && op->getNumArgs() == 2 &&
      flat_record(op->getArg(0)->getType(), expressions_.context()) != nullptr) {
    const auto* method = dyn_cast_or_null<clang::CXXMethodDecl>(op->getDirectCallee());
    const bool is_copy =
        method != nullptr && method->isDefaulted() && op->getOperator() == clang::OO_Equal;
    const bool is_done = is_copy ? inliner_.assign_object(*op->getArg(0), *op->getArg(1), block)
                                 : inliner_.takes(*op);
    if (!is_copy && is_done) take_calls(op, &block);
    return is_done ? scope({}) : nullptr;
  }
  // __half and its like assign through an operator.
  if (const auto* op = dyn_cast<clang::CXXOperatorCallExpr>(inner);
      op != nullptr && op->isAssignmentOp() && op->getNumArgs() == 2) {
    StmtPtr stmt = assignment(inner, op->getArg(0), clang::getOperatorSpelling(op->getOperator()),
                              op->getArg(1), block, after);
    return !stmt || is<OpaqueExpression>(target_of(*stmt)) ? nullptr : stmt;
  }
  if (const auto* op = dyn_cast<clang::UnaryOperator>(inner);
      op != nullptr && op->isIncrementDecrementOp()) {
    return assignment(inner, op->getSubExpr(), op->isIncrementOp() ? "+=" : "-=", nullptr, block,
                      after);
  }
  if (const auto* call_expr = dyn_cast<clang::CallExpr>(inner)) {
    const clang::FunctionDecl* callee = call_expr->getDirectCallee();
    if (callee != nullptr && callee->getNameAsString() == "__syncthreads")
      return at(expr->getBeginLoc(), std::make_shared<Barrier>());
    if (opens_ && callee != nullptr) {
      if (StmtPtr stmt = plain_statement(*call_expr, *callee, block)) return stmt;
    }
    if (opens_ && inliner_.takes(*call_expr)) {
      take_calls(call_expr, &block);
      return scope({});
    }
    ExprPtr value = value_of(inner, block, &after);
    if (!is<Call>(value)) return nullptr;
    return at(expr->getBeginLoc(), std::make_shared<Evaluation>(std::move(value)));
  }
  return nullptr;
}

}  // namespace regraph::source
