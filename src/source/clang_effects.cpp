#include "source/clang_effects.h"

#include <clang/AST/ExprCXX.h>

#include <functional>
#include <map>

namespace regraph::source {
namespace {

using clang::dyn_cast;
using clang::isa;

// The place that an assignment, ++ or -- changes; null for everything else.
const clang::Expr* changed_by(const clang::Stmt& node) {
  if (const auto* op = dyn_cast<clang::BinaryOperator>(&node);
      op != nullptr && op->isAssignmentOp()) {
    return op->getLHS();
  }
  if (const auto* op = dyn_cast<clang::UnaryOperator>(&node);
      op != nullptr && op->isIncrementDecrementOp()) {
    return op->getSubExpr();
  }
  return nullptr;
}

// The local variable that the place is; null for elements, references and whatever else.
const clang::VarDecl* variable_of(const clang::Expr& place) {
  const auto* reference = dyn_cast<clang::DeclRefExpr>(place.IgnoreParenImpCasts());
  const auto* variable =
      reference != nullptr ? dyn_cast<clang::VarDecl>(reference->getDecl()) : nullptr;
  const bool is_plain = variable != nullptr && variable->hasLocalStorage() &&
                        !variable->getType()->isReferenceType() &&
                        !variable->getType().isVolatileQualified();
  return is_plain ? variable : nullptr;
}

// Goes through an expression and notes what is always evaluated.
class EffectFinder {
 public:
  void look_at(const clang::Stmt* node, bool always) {
    if (node == nullptr) return;
    if (const auto* reference = dyn_cast<clang::DeclRefExpr>(node))
      ++mentions_[reference->getDecl()];
    if (const clang::Expr* place = changed_by(*node)) {
      const clang::VarDecl* variable = variable_of(*place);
      if (always && variable != nullptr) found_.emplace(dyn_cast<clang::Expr>(node), variable);
    }
    if (const auto* op = dyn_cast<clang::BinaryOperator>(node);
        op != nullptr && op->isLogicalOp()) {
      look_at(op->getLHS(), always);
      look_at(op->getRHS(), false);
      return;
    }
    if (const auto* choice = dyn_cast<clang::ConditionalOperator>(node)) {
      look_at(choice->getCond(), always);
      look_at(choice->getTrueExpr(), false);
      look_at(choice->getFalseExpr(), false);
      return;
    }
    const bool inside = always && !isa<clang::LambdaExpr>(node) && !isa<clang::StmtExpr>(node);
    for (const clang::Stmt* child : node->children())
      look_at(child, inside);
  }

  [[nodiscard]] std::set<const clang::Expr*> separable() const {
    std::set<const clang::Expr*> result;
    for (const auto& [effect, variable] : found_) {
      if (mentions_.at(variable) == 1) result.insert(effect);
    }
    return result;
  }

 private:
  std::map<const clang::ValueDecl*, int> mentions_;
  std::map<const clang::Expr*, const clang::VarDecl*> found_;
};

}  // namespace

std::set<const clang::Expr*> separable_effects(const clang::Expr& expr) {
  EffectFinder finder;
  finder.look_at(&expr, true);
  return finder.separable();
}

bool has_effects(const clang::Expr& expr) {
  std::function<bool(const clang::Stmt*)> any = [&](const clang::Stmt* node) {
    if (node == nullptr) return false;
    if (changed_by(*node) != nullptr) return true;
    for (const clang::Stmt* child : node->children()) {
      if (any(child)) return true;
    }
    return false;
  };
  return any(&expr);
}

std::optional<bool> decided(const clang::Expr& condition, const clang::ASTContext& context) {
  clang::Expr::EvalResult result;
  if (condition.isValueDependent() || !condition.EvaluateAsRValue(result, context) ||
      result.HasSideEffects || !result.Val.isInt()) {
    return std::nullopt;
  }
  return result.Val.getInt().getBoolValue();
}

bool is_assertion(const clang::Expr& expr) {
  const auto* choice = dyn_cast<clang::ConditionalOperator>(expr.IgnoreParenCasts());
  if (choice == nullptr || !choice->getType()->isVoidType() || has_effects(*choice->getCond()))
    return false;
  const auto* call = dyn_cast<clang::CallExpr>(choice->getFalseExpr()->IgnoreParenCasts());
  const auto* callee = call != nullptr ? call->getDirectCallee() : nullptr;
  const auto* name = callee != nullptr ? callee->getIdentifier() : nullptr;
  return name != nullptr && (name->isStr("__assert_fail") || name->isStr("__assertfail"));
}

}  // namespace regraph::source
