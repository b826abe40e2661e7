#include "source/clang_function_body.h"

#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>

#include <algorithm>

namespace regraph::source {
namespace {

using clang::dyn_cast;
using clang::isa;

}  // namespace

bool holds_return(const clang::Stmt& node) {
  if (isa<clang::ReturnStmt>(node)) return true;
  return std::ranges::any_of(node.children(), [](const clang::Stmt* child) {
    return child != nullptr && holds_return(*child);
  });
}

std::vector<const clang::Stmt*> statements_of(const clang::Stmt* node) {
  if (node == nullptr) return {};
  const auto* compound = dyn_cast<clang::CompoundStmt>(node);
  if (compound == nullptr) return {node};
  return {compound->body_begin(), compound->body_end()};
}

const clang::Expr* single_value(const clang::FunctionDecl& function) {
  const std::vector<const clang::Stmt*> body = statements_of(function.getBody());
  const auto* leave = body.size() == 1 ? dyn_cast<clang::ReturnStmt>(body.front()) : nullptr;
  return leave != nullptr ? leave->getRetValue() : nullptr;
}

int uses_of(const clang::Stmt* node, const clang::ValueDecl& variable) {
  if (node == nullptr) return 0;
  const auto* reference = dyn_cast<clang::DeclRefExpr>(node);
  if (reference != nullptr) return reference->getDecl() == &variable ? 1 : 0;
  int uses = 0;
  for (const clang::Stmt* child : node->children())
    uses += uses_of(child, variable);
  return uses;
}

bool changes_members(const clang::Stmt* node) {
  if (node == nullptr) return false;
  const auto is_member = [](const clang::Expr* place) {
    const clang::Expr* inner = place->IgnoreParenImpCasts();
    while (const auto* access = dyn_cast<clang::MemberExpr>(inner)) {
      inner = access->getBase()->IgnoreParenImpCasts();
      if (isa<clang::CXXThisExpr>(inner)) return true;
    }
    return false;
  };
  if (const auto* op = dyn_cast<clang::BinaryOperator>(node);
      op != nullptr && op->isAssignmentOp() && is_member(op->getLHS())) {
    return true;
  }
  if (const auto* op = dyn_cast<clang::UnaryOperator>(node);
      op != nullptr && (op->isIncrementDecrementOp() || op->getOpcode() == clang::UO_AddrOf) &&
      is_member(op->getSubExpr())) {
    return true;
  }
  return std::ranges::any_of(node->children(),
                             [](const clang::Stmt* child) { return changes_members(child); });
}

}  // namespace regraph::source
