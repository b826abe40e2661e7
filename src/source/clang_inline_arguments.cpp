// Arguments of calls that are taken into the body, in the place of parameters: what CallInliner
// does with them.
#include "source/build.h"
#include "source/clang_effects.h"
#include "source/clang_function_body.h"
#include "source/clang_inline.h"
#include "source/clang_records.h"

#include <algorithm>
#include <set>
#include <utility>

namespace regraph::source {
namespace {

using clang::dyn_cast;
using clang::isa;

}  // namespace

bool CallInliner::bind(const clang::FunctionDecl& function,
                       const std::vector<const clang::Expr*>& arguments, const clang::Expr* single,
                       Block& block) {
  for (unsigned at = 0; at < function.getNumParams(); ++at) {
    const clang::ParmVarDecl& parameter = *function.getParamDecl(at);
    const clang::QualType type = parameter.getType();
    if (is_empty_record(type) || is_lambda(type) || is_library_object(type)) continue;
    const clang::Expr& argument = *arguments[at];
    if (is_vector(type.getNonReferenceType(), expressions_.context())) {
      if (!bind_vector(function, parameter, argument, block)) return false;
      continue;
    }
    if (type.getNonReferenceType()->isRecordType() && !scalar_type_of(type.getNonReferenceType())) {
      if (!bind_object(parameter, argument, block)) return false;
      continue;
    }
    // An array of objects.
    if (type->isPointerType() && flat_record(type->getPointeeType(), expressions_.context())) {
      expressions_.set_elsewhere(active_.size() > 1);
      auto array = expressions_.object_at(&argument);
      expressions_.set_elsewhere(true);
      if (array) {
        expressions_.set_object(&parameter, std::move(*array));
        continue;
      }
    }
    if (!type->isReferenceType() || type.getNonReferenceType().isConstQualified()) {
      if (!bind_value(function, parameter, argument, single, block)) return false;
      continue;
    }
    // Another name of a variable; of anything else it might move.
    const auto* place = dyn_cast<clang::DeclRefExpr>(bare_value(&argument));
    if (place == nullptr) return false;
    expressions_.set_meaning(&parameter, convert_passed(*place));
  }
  return true;
}

bool CallInliner::bind_value(const clang::FunctionDecl& function,
                             const clang::ParmVarDecl& parameter, const clang::Expr& argument,
                             const clang::Expr* single, Block& block) {
  clang::ASTContext& context = expressions_.context();
  const clang::Expr* inner = bare_value(&argument);
  if (has_effects(*inner)) return false;
  const clang::QualType type = parameter.getType().getNonReferenceType();
  if (!scalar_type_of(type) && !type->isPointerType() && !type->isEnumeralType()) return false;
  if (type->isFunctionPointerType()) return false;
  const ExprPtr value = convert_passed(*inner);
  const bool is_array = inner->getType()->isArrayType();
  const bool same =
      is_array ||
      context.hasSameUnqualifiedType(
          context.getCanonicalType(inner->getType()).getUnqualifiedType(),
          context.getCanonicalType(type).getUnqualifiedType()) ||
      (type->isPointerType() && inner->getType()->isPointerType() &&
       context.hasSameUnqualifiedType(type->getPointeeType().getUnqualifiedType(),
                                      inner->getType()->getPointeeType().getUnqualifiedType()));
  const bool is_changing = bodies_.is_changing(parameter);
  const auto* reference = dyn_cast<clang::DeclRefExpr>(inner);
  // What a reference leads to may change on the way.
  const bool is_moving = parameter.getType()->isReferenceType() && inner->isLValue() &&
                         (reference == nullptr || bodies_.is_changing(*reference->getDecl()));
  if (is_moving && (single == nullptr || !is_value_of_parameters(*single))) {
    std::set<const clang::FunctionDecl*> seen;
    if (!only_reads(function, seen)) return false;
  }
  // What has one value may stand for the parameter, and so may anything that is used once at once.
  const bool is_fixed = isa<clang::IntegerLiteral>(inner) || isa<clang::FloatingLiteral>(inner) ||
                        is_array ||
                        (reference != nullptr && !bodies_.is_changing(*reference->getDecl())) ||
                        (reference != nullptr && single != nullptr) ||
                        (single != nullptr && uses_of(single, parameter) <= 1);
  if (same && !is_changing && is_fixed) {
    expressions_.set_meaning(&parameter, value);
    return true;
  }
  expressions_.forget_meaning(&parameter);
  bodies_.declare(parameter, value, !is_changing, block);
  return true;
}

ExprPtr CallInliner::convert_passed(const clang::Expr& argument) {
  expressions_.set_elsewhere(active_.size() > 1);
  ExprPtr value = expressions_.convert(&argument);
  expressions_.set_elsewhere(true);
  return value;
}

bool CallInliner::is_value_of_parameters(const clang::Stmt& node) {
  if (isa<clang::ArraySubscriptExpr>(node) || isa<clang::PseudoObjectExpr>(node) ||
      isa<clang::CXXThisExpr>(node)) {
    return false;
  }
  if (const auto* op = dyn_cast<clang::UnaryOperator>(&node);
      op != nullptr && op->getOpcode() == clang::UO_Deref) {
    return false;
  }
  if (const auto* reference = dyn_cast<clang::DeclRefExpr>(&node)) {
    const auto* used = dyn_cast<clang::VarDecl>(reference->getDecl());
    if (used != nullptr && !isa<clang::ParmVarDecl>(used)) return false;
  }
  if (const auto* call = dyn_cast<clang::CallExpr>(&node)) {
    const clang::FunctionDecl* callee = called_function(*call, expressions_.context());
    if (callee == nullptr || callees_.of(*callee) != CallEffect::pure) return false;
  }
  return std::ranges::all_of(node.children(), [&](const clang::Stmt* child) {
    return child == nullptr || is_value_of_parameters(*child);
  });
}

}  // namespace regraph::source
