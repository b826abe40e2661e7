#include "source/clang_loop_header.h"

#include "source/statements.h"

#include <clang/AST/Attr.h>

#include <algorithm>

namespace regraph::source {
namespace {

using clang::dyn_cast;

// The variable of `i += 2` or `++i`, null for others.
const clang::Decl* advanced_by(const clang::Expr* part) {
  const clang::Expr* bare = part->IgnoreParenImpCasts();
  const clang::Expr* place = nullptr;
  if (const auto* op = dyn_cast<clang::BinaryOperator>(bare); op != nullptr && op->isAssignmentOp())
    place = op->getLHS();
  if (const auto* op = dyn_cast<clang::UnaryOperator>(bare);
      op != nullptr && op->isIncrementDecrementOp()) {
    place = op->getSubExpr();
  }
  const auto* reference =
      place != nullptr ? dyn_cast<clang::DeclRefExpr>(place->IgnoreParenImpCasts()) : nullptr;
  return reference != nullptr ? reference->getDecl() : nullptr;
}

// Whether the condition compares two counters of the header. The compiler sees them in the order
// in which they are declared and advanced, so the last of both stays in the header.
bool counters_meet(const clang::ForStmt& loop) {
  const auto* declarations = dyn_cast_or_null<clang::DeclStmt>(loop.getInit());
  if (declarations == nullptr || declarations->isSingleDecl()) return false;
  const auto* comparison = dyn_cast_or_null<clang::BinaryOperator>(
      loop.getCond() != nullptr ? loop.getCond()->IgnoreParenImpCasts() : nullptr);
  const auto* right =
      comparison != nullptr
          ? dyn_cast<clang::DeclRefExpr>(comparison->getRHS()->IgnoreParenImpCasts())
          : nullptr;
  if (right == nullptr) return false;
  const auto counters = declarations->decls();
  return std::find(counters.begin(), counters.end(), right->getDecl()) != counters.end();
}

}  // namespace

void take_apart(const clang::Expr* expr, std::vector<const clang::Expr*>& parts) {
  const clang::Expr* inner = expr->IgnoreParenImpCasts();
  if (const auto* full = dyn_cast<clang::FullExpr>(inner))
    return take_apart(full->getSubExpr(), parts);
  const auto* op = dyn_cast<clang::BinaryOperator>(inner);
  if (op == nullptr || !op->isCommaOp()) {
    parts.push_back(expr);
    return;
  }
  take_apart(op->getLHS(), parts);
  take_apart(op->getRHS(), parts);
}

bool has_several_parts(const clang::ForStmt& loop) {
  const auto* declarations = dyn_cast_or_null<clang::DeclStmt>(loop.getInit());
  if (declarations != nullptr && !declarations->isSingleDecl()) return true;
  for (const clang::Stmt* part : {loop.getInit(), static_cast<const clang::Stmt*>(loop.getInc())}) {
    const auto* expr = dyn_cast_or_null<clang::Expr>(part);
    if (expr == nullptr) continue;
    std::vector<const clang::Expr*> parts;
    take_apart(expr, parts);
    if (parts.size() > 1) return true;
  }
  return false;
}

bool keeps_last(const clang::ForStmt& loop) {
  if (counters_meet(loop)) return true;
  const auto* declarations = dyn_cast_or_null<clang::DeclStmt>(loop.getInit());
  if (declarations == nullptr || declarations->isSingleDecl() || loop.getInc() == nullptr)
    return false;
  std::vector<const clang::Decl*> declared(declarations->decl_begin(), declarations->decl_end());
  std::vector<const clang::Expr*> parts;
  take_apart(loop.getInc(), parts);
  if (parts.size() != declared.size()) return false;
  for (std::size_t at = 0; at < parts.size(); ++at) {
    if (advanced_by(parts[at]) != declared[at]) return false;
  }
  return true;
}

bool is_asked_first(const clang::Expr* condition, const clang::Decl* declared) {
  const auto* comparison = condition != nullptr
                               ? dyn_cast<clang::BinaryOperator>(condition->IgnoreParenImpCasts())
                               : nullptr;
  const auto* reference =
      comparison != nullptr && comparison->isComparisonOp()
          ? dyn_cast<clang::DeclRefExpr>(comparison->getLHS()->IgnoreParenImpCasts())
          : nullptr;
  return reference != nullptr && reference->getDecl() == declared;
}

std::optional<int> unroll_of(const clang::AttributedStmt* attributed,
                             const clang::ASTContext& context) {
  std::optional<int> unroll;
  for (const clang::Attr* attribute : attributed->getAttrs()) {
    const auto* hint = dyn_cast<clang::LoopHintAttr>(attribute);
    if (hint == nullptr) return std::nullopt;
    if (hint->getOption() == clang::LoopHintAttr::UnrollCount) {
      clang::Expr::EvalResult result;
      if (!hint->getValue()->EvaluateAsInt(result, context)) return std::nullopt;
      unroll = static_cast<int>(result.Val.getInt().getExtValue());
    } else if (hint->getOption() == clang::LoopHintAttr::Unroll) {
      const auto state = hint->getState();
      unroll = state == clang::LoopHintAttr::Disable ? 1 : kUnrollFully;
    } else {
      return std::nullopt;
    }
  }
  return unroll;
}

}  // namespace regraph::source
