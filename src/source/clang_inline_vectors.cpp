// CUDA's vectors (float4 and the like) as arguments of calls that are taken into the body.
#include "source/clang_effects.h"
#include "source/clang_inline.h"
#include "source/clang_records.h"

#include <clang/AST/StmtCXX.h>

#include <algorithm>
#include <utility>

namespace regraph::source {
namespace {

using clang::dyn_cast;
using clang::isa;

// Whether the place is a variable of the function itself, or part of one: no reference, nothing
// behind a pointer.
bool is_of_the_function(const clang::Expr* place) {
  const clang::Expr* inner = place->IgnoreParenImpCasts();
  while (const auto* access = dyn_cast<clang::MemberExpr>(inner)) {
    if (access->isArrow()) return false;
    inner = access->getBase()->IgnoreParenImpCasts();
  }
  const auto* reference = dyn_cast<clang::DeclRefExpr>(inner);
  const auto* variable =
      reference != nullptr ? dyn_cast<clang::VarDecl>(reference->getDecl()) : nullptr;
  return variable != nullptr && variable->hasLocalStorage() &&
         !variable->getType()->isReferenceType();
}

// Making one, of half or of pairs of it too, changes nothing else.
bool is_number_or_vector(clang::QualType type, const clang::ASTContext& context) {
  return scalar_type_of(type) || is_vector(type, context);
}

}  // namespace

bool CallInliner::only_reads(const clang::Stmt* node, std::set<const clang::FunctionDecl*>& seen) {
  if (node == nullptr) return true;
  if (const auto* op = dyn_cast<clang::BinaryOperator>(node);
      op != nullptr && op->isAssignmentOp() && !is_of_the_function(op->getLHS())) {
    return false;
  }
  if (const auto* op = dyn_cast<clang::UnaryOperator>(node);
      op != nullptr && (op->isIncrementDecrementOp() || op->getOpcode() == clang::UO_AddrOf) &&
      !is_of_the_function(op->getSubExpr())) {
    return false;
  }
  if (isa<clang::LambdaExpr, clang::AsmStmt>(node)) return false;
  if (const auto* made = dyn_cast<clang::CXXConstructExpr>(node);
      made != nullptr && !made->getConstructor()->isTrivial() &&
      !is_number_or_vector(made->getType(), expressions_.context()) &&
      !only_reads(made->getConstructor()->getBody(), seen)) {
    return false;
  }
  if (const auto* call = dyn_cast<clang::CallExpr>(node)) {
    const clang::FunctionDecl* callee = called_function(*call, expressions_.context());
    const clang::FunctionDecl* function = nullptr;
    if (callee == nullptr) return false;
    const bool is_pure = callees_.of(*callee) == CallEffect::pure;
    const bool has_body = callee->getBody(function) != nullptr && function != nullptr;
    if (!is_pure && (!has_body || !only_reads(*function, seen))) return false;
  }
  return std::ranges::all_of(node->children(),
                             [&](const clang::Stmt* child) { return only_reads(child, seen); });
}

bool CallInliner::only_reads(const clang::FunctionDecl& function,
                             std::set<const clang::FunctionDecl*>& seen) {
  return !seen.insert(&function).second || only_reads(function.getBody(), seen);
}

bool CallInliner::bind_vector(const clang::FunctionDecl& function,
                              const clang::ParmVarDecl& parameter, const clang::Expr& argument,
                              Block& block) {
  const clang::ASTContext& context = expressions_.context();
  const clang::QualType type = parameter.getType();
  const clang::Expr* inner = bare_value(&argument);
  const bool is_reference = type->isReferenceType();
  if (has_effects(*inner) ||
      !context.hasSameUnqualifiedType(inner->getType(), type.getNonReferenceType())) {
    return false;
  }
  const bool is_changing = bodies_.is_changing(parameter);
  const auto* named = dyn_cast<clang::DeclRefExpr>(inner);
  if (is_reference && !type.getNonReferenceType().isConstQualified()) {
    // Another name of a variable; of anything else it might move.
    if (named == nullptr) return false;
    expressions_.set_meaning(&parameter, convert_passed(*named));
    return true;
  }
  const ExprPtr value = convert_passed(*inner);
  if (is<OpaqueExpression>(value)) return false;
  const auto* variable = named != nullptr ? dyn_cast<clang::VarDecl>(named->getDecl()) : nullptr;
  const bool is_fixed =
      variable != nullptr && variable->hasLocalStorage() && !bodies_.is_changing(*variable);
  if (is_fixed && !is_changing) {
    expressions_.set_meaning(&parameter, value);
    return true;
  }
  // What a reference leads to must not change on the way.
  std::set<const clang::FunctionDecl*> seen;
  if (is_reference && inner->isLValue() && !only_reads(function, seen)) return false;
  expressions_.forget_meaning(&parameter);
  bodies_.declare(parameter, value, !is_changing, block);
  return true;
}

}  // namespace regraph::source
