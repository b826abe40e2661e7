// Variables, members and elements -> IR: what ExpressionConverter makes of names.
#include "source/build.h"
#include "source/clang_effects.h"
#include "source/clang_expressions.h"
#include "source/clang_library_calls.h"
#include "source/clang_nodes.h"

#include <clang/AST/Attr.h>
#include <clang/AST/ExprCXX.h>

#include <string_view>
#include <utility>

namespace regraph::source {
namespace {

using clang::dyn_cast;
using clang::isa;

}  // namespace

ExprPtr ExpressionConverter::convert_reference(const clang::DeclRefExpr* reference) {
  const clang::ValueDecl* declaration = reference->getDecl();
  if (const auto* constant = dyn_cast<clang::EnumConstantDecl>(declaration)) {
    return integer_literal(constant->getInitVal().getExtValue(), reference->getType());
  }
  if (const auto meaning = meanings_.find(declaration); meaning != meanings_.end())
    return meaning->second;
  const auto found = names_.find(declaration);
  if (found != names_.end()) return typed(variable(found->second), reference->getType());
  if (const auto* global = dyn_cast<clang::VarDecl>(declaration)) {
    // A file-scope constant: its value is what the analyses need.
    if (global->getType()->isIntegralType(context_) && global->getType().isConstQualified()) {
      clang::Expr::EvalResult result;
      if (reference->EvaluateAsInt(result, context_)) {
        return integer_literal(result.Val.getInt().getExtValue(), reference->getType());
      }
    }
    if (global->hasLocalStorage()) return opaque(reference);  // nothing was declared
    // Of the file and used by other functions, or it would be the kernel's own: who writes it is
    // not known.
    if (global->hasAttr<clang::CUDASharedAttr>()) return opaque(reference);
    // An operation's identity, where what it does is looked at; it may be spelt as a number of
    // another type: constexpr float kIdentity = 0.
    const bool is_number = opens_ && global->getType().isConstQualified() &&
                           global->getType()->isFloatingType() && global->hasInit();
    if (is_number) {
      const clang::QualType type = global->getType().getCanonicalType().getUnqualifiedType();
      const clang::Expr* init = global->getInit()->IgnoreParenImpCasts();
      const bool is_literal = isa<clang::IntegerLiteral, clang::FloatingLiteral>(init);
      if (context_.hasSameUnqualifiedType(init->getType(), type)) return convert(init);
      if (is_literal) return cast(spelling_of(type), convert(init));
    }
    if (elsewhere_) {
      const std::string name = global_name(*global);
      return name.empty() ? opaque(reference)
                          : typed(variable(name, std::nullopt), reference->getType());
    }
    // Of a namespace or class: the name alone would be another's.
    if (reference->hasQualifier()) {
      return typed(variable(text_of(reference->getSourceRange()), std::nullopt),
                   reference->getType());
    }
    return typed(variable(global->getNameAsString(), std::nullopt), reference->getType());
  }
  return opaque(reference);
}

ExprPtr ExpressionConverter::convert_enumerator(const clang::DeclRefExpr& reference) const {
  const auto* constant = clang::cast<clang::EnumConstantDecl>(reference.getDecl());
  const auto* enumeration = clang::cast<clang::EnumDecl>(constant->getDeclContext());
  if (!enumeration->getIdentifier()) return nullptr;  // has no type to speak of
  const bool is_written =
      !elsewhere_ && !reference.getBeginLoc().isMacroID() && !reference.getEndLoc().isMacroID();
  std::string name = is_written ? text_of(reference.getSourceRange()) : global_name(*constant);
  if (name.empty() && !elsewhere_) name = constant->getNameAsString();  // the kernel's own
  if (name.empty()) return nullptr;
  return variable(std::move(name), std::nullopt);
}

ExprPtr ExpressionConverter::enumerator_of(const clang::Expr& constant) const {
  clang::Expr::EvalResult result;
  const auto* type = constant.getType()->getAs<clang::EnumType>();
  if (type == nullptr || !type->getDecl()->getIdentifier() || constant.isValueDependent() ||
      !constant.EvaluateAsInt(result, context_) || result.HasSideEffects) {
    return nullptr;
  }
  for (const clang::EnumConstantDecl* enumerator : type->getDecl()->enumerators()) {
    if (!llvm::APSInt::isSameValue(enumerator->getInitVal(), result.Val.getInt())) continue;
    std::string name = global_name(*enumerator);
    if (name.empty()) return nullptr;
    return variable(std::move(name), std::nullopt);
  }
  return nullptr;
}

ExprPtr ExpressionConverter::convert_builtin(const clang::PseudoObjectExpr* pseudo) const {
  const auto* property =
      dyn_cast<clang::MSPropertyRefExpr>(pseudo->getSyntacticForm()->IgnoreParens());
  if (property == nullptr) return opaque(pseudo);
  const clang::Expr* base = property->getBaseExpr()->IgnoreParenImpCasts();
  if (const auto* value = dyn_cast<clang::OpaqueValueExpr>(base)) {
    base = value->getSourceExpr()->IgnoreParenImpCasts();
  }
  const auto* reference = dyn_cast<clang::DeclRefExpr>(base);
  if (reference == nullptr) return opaque(pseudo);
  const std::string object = reference->getDecl()->getNameAsString();
  if (object != "threadIdx" && object != "blockIdx" && object != "blockDim" &&
      object != "gridDim") {
    return opaque(pseudo);
  }
  return builtin(object + "." + property->getPropertyDecl()->getNameAsString());
}

std::string ExpressionConverter::global_name(const clang::NamedDecl& declaration) {
  std::string name = declaration.getQualifiedNameAsString();
  constexpr std::string_view kNameless = "(anonymous namespace)::";
  for (std::size_t at = name.find(kNameless); at != std::string::npos; at = name.find(kNameless))
    name.erase(at, kNameless.size());
  return name.find('(') == std::string::npos ? name : "";
}

std::optional<Object> ExpressionConverter::object_at(const clang::Expr* place) {
  if (!opens_) return std::nullopt;
  const clang::Expr* inner = bare_value(place);
  if (isa<clang::CXXThisExpr>(inner)) return this_;
  if (const auto found = object_values_.find(inner); found != object_values_.end())
    return found->second;
  if (const auto* reference = dyn_cast<clang::DeclRefExpr>(inner)) {
    const auto found = objects_.find(reference->getDecl());
    return found != objects_.end() ? std::optional(found->second) : std::nullopt;
  }
  if (const auto* op = dyn_cast<clang::UnaryOperator>(inner);
      op != nullptr && op->getOpcode() == clang::UO_Deref) {
    const bool is_own = isa<clang::CXXThisExpr>(op->getSubExpr()->IgnoreParenImpCasts());
    return is_own ? this_ : std::nullopt;
  }
  if (const auto* access = dyn_cast<clang::MemberExpr>(inner)) {
    const auto* field = dyn_cast<clang::FieldDecl>(access->getMemberDecl());
    const auto owner = field != nullptr ? owner_of(*access) : std::nullopt;
    if (!owner) return std::nullopt;
    const auto part = owner->parts.find(field);
    return part != owner->parts.end() ? std::optional(part->second) : std::nullopt;
  }
  if (const auto* element = dyn_cast<clang::ArraySubscriptExpr>(inner)) {
    const auto array = object_at(element->getBase());
    if (!array || has_effects(*element->getIdx())) return std::nullopt;
    return element_of(*array, inner->getType(), convert(element->getIdx()));
  }
  return std::nullopt;
}

std::optional<Object> ExpressionConverter::element_of(const Object& array, clang::QualType type,
                                                      const ExprPtr& index) const {
  const clang::CXXRecordDecl* record = flat_record(context_.getBaseElementType(type), context_);
  if (record == nullptr) return std::nullopt;
  return map_object(*record, array, [&](const Leaf&, const ExprPtr& of_field) {
    return plain_subscript(of_field, index);
  });
}

std::optional<Object> ExpressionConverter::owner_of(const clang::MemberExpr& access) {
  auto owner = object_at(access.getBase());
  const bool is_behind_pointer =
      access.isArrow() && !isa<clang::CXXThisExpr>(access.getBase()->IgnoreParenImpCasts());
  if (!owner || !is_behind_pointer) return owner;
  return element_of(*owner, access.getBase()->getType()->getPointeeType(), integer(0));
}

ExprPtr ExpressionConverter::convert_member(const clang::MemberExpr* access) {
  if (opens_) {
    if (ExprPtr index = library_index(*access)) return index;
  }
  const clang::ValueDecl* named = access->getMemberDecl();
  clang::Expr::EvalResult result;
  if (isa<clang::VarDecl>(named)) {  // static
    if (access->getType()->isIntegralType(context_) && access->EvaluateAsInt(result, context_))
      return integer_literal(result.Val.getInt().getExtValue(), access->getType());
    return opaque(access);
  }
  if (!isa<clang::FieldDecl>(named) || named->getDeclName().isEmpty()) return opaque(access);
  if (const auto owner = owner_of(*access)) {
    const auto found = owner->values.find(clang::cast<clang::FieldDecl>(named));
    return found != owner->values.end() && found->second ? found->second : opaque(access);
  }
  ExprPtr object = convert(access->getBase());
  if (is<OpaqueExpression>(object)) return opaque(access);
  if (access->isArrow()) object = plain_subscript(std::move(object), integer(0));
  return member(std::move(object), named->getNameAsString(), std::nullopt);
}

}  // namespace regraph::source
