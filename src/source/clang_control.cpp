#include "source/clang_control.h"

#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>

#include <algorithm>

namespace regraph::source {
namespace {

using clang::dyn_cast;
using clang::isa;
using llvm::isa_and_nonnull;

bool is_loop(const clang::Stmt& node) {
  return isa<clang::ForStmt>(node) || isa<clang::WhileStmt>(node) || isa<clang::DoStmt>(node) ||
         isa<clang::CXXForRangeStmt>(node);
}

// The field that the place is an element of, where that is an array; else the place itself.
const clang::Expr* array_of_element(const clang::Expr* place) {
  const clang::Expr* inner = place;
  while (const auto* element = dyn_cast<clang::ArraySubscriptExpr>(inner)) {
    inner = element->getBase()->IgnoreParenImpCasts();
    if (!inner->getType()->isArrayType()) return place;
  }
  return isa<clang::MemberExpr>(inner) ? inner : place;
}

// The variable that a place is, or is a field of, or an element of an array that is a field.
const clang::ValueDecl* variable_of(const clang::Expr* place) {
  const clang::Expr* inner = array_of_element(place->IgnoreParenImpCasts());
  while (const auto* access = dyn_cast<clang::MemberExpr>(inner)) {
    if (access->isArrow()) return nullptr;
    inner = access->getBase()->IgnoreParenImpCasts();
  }
  const auto* reference = dyn_cast<clang::DeclRefExpr>(inner);
  return reference != nullptr ? reference->getDecl() : nullptr;
}

class ChangeFinder {
 public:
  void look_at(const clang::Stmt* node) {
    if (node == nullptr) return;
    if (const auto* loop = dyn_cast<clang::ForStmt>(node)) {
      look_at(loop->getInit());
      look_at(loop->getCond());
      look_at(loop->getBody());
      look_at_step(*loop);
      return;
    }
    note(*node);
    for (const clang::Stmt* child : node->children())
      look_at(child);
  }

  std::set<const clang::ValueDecl*> changing;

 private:
  void look_at_step(const clang::ForStmt& loop) {
    std::set<const clang::ValueDecl*> counters;
    if (const auto* declared = dyn_cast_or_null<clang::DeclStmt>(loop.getInit())) {
      for (const clang::Decl* one : declared->decls())
        if (const auto* counter = dyn_cast<clang::VarDecl>(one)) counters.insert(counter);
    }
    const std::set<const clang::ValueDecl*> before = changing;
    look_at(loop.getInc());
    for (const clang::ValueDecl* counter : counters)
      if (!before.contains(counter)) changing.erase(counter);
  }

  void change(const clang::Expr* place) {
    if (const clang::ValueDecl* variable = variable_of(place)) changing.insert(variable);
  }

  void note(const clang::Stmt& node) {
    if (const auto* op = dyn_cast<clang::BinaryOperator>(&node);
        op != nullptr && op->isAssignmentOp()) {
      change(op->getLHS());
    }
    if (const auto* op = dyn_cast<clang::UnaryOperator>(&node);
        op != nullptr && (op->isIncrementDecrementOp() || op->getOpcode() == clang::UO_AddrOf)) {
      change(op->getSubExpr());
    }
    if (const auto* call = dyn_cast<clang::CXXOperatorCallExpr>(&node);
        call != nullptr && call->isAssignmentOp()) {
      change(call->getArg(0));
    }
    if (const auto* call = dyn_cast<clang::CXXMemberCallExpr>(&node)) {
      const clang::CXXMethodDecl* method = call->getMethodDecl();
      if (method != nullptr && !method->isConst() && !method->isStatic())
        change(call->getImplicitObjectArgument());
    }
    if (const auto* call = dyn_cast<clang::CXXOperatorCallExpr>(&node)) {
      const auto* method = dyn_cast_or_null<clang::CXXMethodDecl>(call->getDirectCallee());
      if (method != nullptr && !method->isConst()) change(call->getArg(0));
    }
    if (const auto* lambda = dyn_cast<clang::LambdaExpr>(&node)) {
      for (const clang::LambdaCapture& capture : lambda->captures())
        if (capture.capturesVariable() && capture.getCaptureKind() == clang::LCK_ByRef)
          changing.insert(capture.getCapturedVar());
    }
    if (const auto* call = dyn_cast<clang::CallExpr>(&node)) note_call(*call);
    if (const auto* declared = dyn_cast<clang::DeclStmt>(&node)) {
      for (const clang::Decl* one : declared->decls()) {
        const auto* variable = dyn_cast<clang::VarDecl>(one);
        if (variable != nullptr && is_changeable(variable->getType()) && variable->hasInit())
          change(variable->getInit());
      }
    }
  }

  static bool is_changeable(clang::QualType type) {
    return type->isReferenceType() && !type.getNonReferenceType().isConstQualified();
  }

  void note_call(const clang::CallExpr& call) {
    const clang::FunctionDecl* callee = call.getDirectCallee();
    // The first operand of an operator that is a method is the object.
    const unsigned first =
        isa<clang::CXXOperatorCallExpr>(call) && isa_and_nonnull<clang::CXXMethodDecl>(callee) ? 1
                                                                                               : 0;
    for (unsigned at = first; at < call.getNumArgs(); ++at) {
      const bool is_safe = callee != nullptr && at - first < callee->getNumParams() &&
                           !is_changeable(callee->getParamDecl(at - first)->getType());
      const bool is_value = !call.getArg(at)->isLValue();
      if (!is_safe && !is_value) change(call.getArg(at));
    }
  }
};

// Whether a value is made of variables that do not change, and of nothing in memory.
bool is_fixed_value(const clang::Stmt* node, const std::set<const clang::ValueDecl*>& changing) {
  if (node == nullptr) return true;
  if (isa<clang::CallExpr>(node) || isa<clang::ArraySubscriptExpr>(node)) return false;
  if (const auto* op = dyn_cast<clang::UnaryOperator>(node);
      op != nullptr && op->getOpcode() == clang::UO_Deref) {
    return false;
  }
  if (isa<clang::PseudoObjectExpr>(node)) return true;  // threadIdx.x
  if (const auto* reference = dyn_cast<clang::DeclRefExpr>(node))
    return !changing.contains(reference->getDecl());
  return std::ranges::all_of(
      node->children(), [&](const clang::Stmt* child) { return is_fixed_value(child, changing); });
}

}  // namespace

bool has_continue(const clang::Stmt& body) {
  if (isa<clang::ContinueStmt>(body)) return true;
  return std::ranges::any_of(body.children(), [](const clang::Stmt* child) {
    return child != nullptr && !is_loop(*child) && has_continue(*child);
  });
}

std::set<const clang::ValueDecl*> changing_variables(const clang::Stmt& body) {
  ChangeFinder finder;
  finder.look_at(&body);
  return finder.changing;
}

bool is_fixed_place(const clang::Expr& place, const std::set<const clang::ValueDecl*>& changing) {
  const clang::Expr* inner = place.IgnoreParenImpCasts();
  if (isa<clang::DeclRefExpr>(inner)) return true;
  if (const auto* access = dyn_cast<clang::MemberExpr>(inner)) {
    return access->isArrow() ? is_fixed_value(access->getBase(), changing)
                             : is_fixed_place(*access->getBase(), changing);
  }
  if (const auto* element = dyn_cast<clang::ArraySubscriptExpr>(inner)) {
    const clang::Expr* base = element->getBase()->IgnoreParenImpCasts();
    const bool is_base_fixed = base->getType()->isArrayType() ? is_fixed_place(*base, changing)
                                                              : is_fixed_value(base, changing);
    return is_base_fixed && is_fixed_value(element->getIdx(), changing);
  }
  const auto* op = dyn_cast<clang::UnaryOperator>(inner);
  return op != nullptr && op->getOpcode() == clang::UO_Deref &&
         is_fixed_value(op->getSubExpr(), changing);
}

}  // namespace regraph::source
