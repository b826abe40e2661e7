// References of a kernel -> IR: other names of places (clang_statements.h).
#include "source/build.h"
#include "source/clang_control.h"
#include "source/clang_effects.h"
#include "source/clang_statements.h"
#include "source/printer.h"

#include <clang/AST/ExprCXX.h>

#include <utility>

namespace regraph::source {
namespace {

using clang::dyn_cast;
using clang::isa;

// An element of what a pointer leads to, not of an array; what a call comes to may be either, and
// an array's element has an address, too.
bool is_element_behind_pointer(const clang::Expr& place) {
  if (isa<clang::CallExpr>(place.IgnoreParenImpCasts())) return true;
  const auto* element = dyn_cast<clang::ArraySubscriptExpr>(place.IgnoreParenImpCasts());
  return element != nullptr &&
         element->getBase()->IgnoreParenImpCasts()->getType()->isPointerType();
}

}  // namespace

StmtPtr StatementConverter::convert_reference(const clang::VarDecl* declaration, Block& block) {
  const clang::Expr* init = declaration->getInit();
  if (!takes_apart_ || init == nullptr || has_effects(*init)) return nullptr;
  const clang::Expr* bare = init->IgnoreImplicit();
  if (isa<clang::MaterializeTemporaryExpr>(init->IgnoreParens()) || !bare->isLValue()) {
    const clang::QualType type = declaration->getType().getNonReferenceType();
    return type.isConstQualified() ? convert_value(declaration, type, "", block) : nullptr;
  }
  const bool is_fixed = is_fixed_place(*bare, changing_);
  if (auto object = is_fixed ? expressions_.object_at(bare) : std::nullopt) {
    expressions_.set_object(declaration, std::move(*object));
    return scope({});
  }
  take_calls(bare, &block);
  ExprPtr place = expressions_.convert(bare);
  if (is<OpaqueExpression>(place)) return nullptr;
  const auto* element = as<Subscript>(place);
  const bool is_behind_pointer = element != nullptr && is_element_behind_pointer(*bare);
  if (!is_behind_pointer) {
    if (!is_fixed) return nullptr;
    expressions_.set_meaning(declaration, std::move(place));
    return scope({});
  }
  if (opens_ && parameter_of(*bare) != nullptr) {
    // What does not change needs no pointer: the place is known by its index.
    knows_by_index_ = true;
    const auto& access = *dyn_cast<clang::ArraySubscriptExpr>(bare->IgnoreParenImpCasts());
    const std::string index =
        declare_result(declaration->getNameAsString() + "_index", access.getIdx()->getType(),
                       element->index, true, block);
    expressions_.set_meaning(
        declaration, std::make_shared<Subscript>(
                         element->base, variable(index, element->index->type), element->type));
    return scope({});
  }
  const clang::QualType type = declaration->getType().getNonReferenceType();
  Variable pointer;
  pointer.type = expressions_.spelling_of(type);
  pointer.scalar = scalar_type_of(type);
  pointer.is_pointer = true;
  pointer.is_const = true;
  pointer.name = unique_name(declaration, pointer.type + "&|" + print(place));
  expressions_.set_meaning(
      declaration, std::make_shared<Subscript>(variable(pointer.name, std::nullopt), integer(0),
                                               pointer.scalar));
  return at(declaration->getBeginLoc(),
            std::make_shared<Declaration>(std::move(pointer), address(std::move(place))));
}

const clang::ParmVarDecl* StatementConverter::parameter_of(const clang::Expr& place) const {
  const auto* element = dyn_cast<clang::ArraySubscriptExpr>(place.IgnoreParenImpCasts());
  const auto* base = element != nullptr
                         ? dyn_cast<clang::DeclRefExpr>(element->getBase()->IgnoreParenImpCasts())
                         : nullptr;
  const auto* parameter = base != nullptr ? dyn_cast<clang::ParmVarDecl>(base->getDecl()) : nullptr;
  const bool is_fixed = parameter != nullptr && !changing_.contains(parameter) &&
                        !inliner_.is_inside() && element->getIdx()->getType()->isIntegerType();
  return is_fixed ? parameter : nullptr;
}

}  // namespace regraph::source
