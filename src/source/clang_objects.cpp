#include "source/clang_objects.h"

#include "source/clang_expressions.h"
#include "source/clang_records.h"

#include <clang/AST/ExprCXX.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>
#include <iterator>

namespace regraph::source {
namespace {

using clang::dyn_cast;

bool is_flat_field(const clang::FieldDecl& field, const clang::ASTContext& context) {
  if (field.isBitField() || field.getDeclName().isEmpty()) return false;
  const clang::QualType type = field.getType();
  if (is_empty_record(type)) return true;
  if (type.isVolatileQualified() || type->isFunctionPointerType()) return false;
  return scalar_type_of(type) || type->isPointerType() || is_flat_array(type, context) ||
         flat_record(type, context) != nullptr;
}

Object map_parts(const clang::CXXRecordDecl& record, const Object& object,
                 const std::string& prefix,
                 const std::function<ExprPtr(const Leaf&, const ExprPtr&)>& change) {
  Object result;
  for (const clang::FieldDecl* field : fields_of_record(record)) {
    std::string name = prefix + "_" + field->getNameAsString();
    // As members are often called.
    while (name.ends_with('_'))
      name.pop_back();
    if (const auto* of_part = field->getType()->getAsCXXRecordDecl();
        of_part != nullptr && !scalar_type_of(field->getType())) {
      const auto part = object.parts.find(field);
      result.parts[field] =
          map_parts(*of_part, part != object.parts.end() ? part->second : Object(), name, change);
      continue;
    }
    const auto value = object.values.find(field);
    result.values[field] =
        change({name, field}, value != object.values.end() ? value->second : nullptr);
  }
  return result;
}

}  // namespace

bool is_empty_record(clang::QualType type) {
  const auto* record = type.getNonReferenceType()->getAsCXXRecordDecl();
  return record != nullptr && record->hasDefinition() && record->isEmpty();
}

bool is_lambda(clang::QualType type) {
  const auto* record = type.getNonReferenceType()->getAsCXXRecordDecl();
  return record != nullptr && record->isLambda();
}

bool is_flat_array(clang::QualType type, const clang::ASTContext& context) {
  const auto* array = context.getAsConstantArrayType(type);
  if (array == nullptr || array->getSize().isZero()) return false;
  const clang::QualType element = array->getElementType();
  return !element.isVolatileQualified() &&
         (scalar_type_of(element) || is_flat_array(element, context) ||
          (element->isRecordType() && is_vector(element, context)));
}

const clang::CXXRecordDecl* flat_record(clang::QualType type, const clang::ASTContext& context) {
  const auto* record = type->getAsCXXRecordDecl();
  if (record == nullptr || !record->hasDefinition() || scalar_type_of(type)) return nullptr;
  record = record->getDefinition();
  const clang::SourceManager& sources = context.getSourceManager();
  const bool is_simple = !record->isUnion() && !record->isDynamicClass() && !record->isLambda() &&
                         !record->isInvalidDecl() && record->hasTrivialDestructor() &&
                         record->getNumVBases() == 0;
  // Vector types and what libraries define stay what they are.
  if (!is_simple || record->isEmpty() ||
      !sources.isWrittenInMainFile(sources.getExpansionLoc(record->getLocation()))) {
    return nullptr;
  }
  const bool has_flat_bases =
      std::ranges::all_of(record->bases(), [&](const clang::CXXBaseSpecifier& base) {
        const auto* of_base = base.getType()->getAsCXXRecordDecl();
        return of_base != nullptr &&
               (of_base->isEmpty() || flat_record(base.getType(), context) != nullptr);
      });
  const bool has_flat_fields = std::ranges::all_of(
      record->fields(),
      [&](const clang::FieldDecl* field) { return is_flat_field(*field, context); });
  return has_flat_bases && has_flat_fields ? record : nullptr;
}

std::vector<const clang::FieldDecl*> fields_of_record(const clang::CXXRecordDecl& record) {
  std::vector<const clang::FieldDecl*> fields;
  for (const clang::CXXBaseSpecifier& base : record.bases()) {
    const auto* of_base = base.getType()->getAsCXXRecordDecl();
    if (of_base == nullptr) continue;
    const auto inherited = fields_of_record(*of_base->getDefinition());
    fields.insert(fields.end(), inherited.begin(), inherited.end());
  }
  std::ranges::copy_if(record.fields(), std::back_inserter(fields),
                       [](const auto* field) { return !is_empty_record(field->getType()); });
  return fields;
}

Object map_object(const clang::CXXRecordDecl& record, const Object& object,
                  const std::function<ExprPtr(const Leaf&, const ExprPtr&)>& change) {
  return map_parts(record, object, "", change);
}

const clang::Expr* bare_value(const clang::Expr* expr) {
  const clang::Expr* inner = expr->IgnoreParenImpCasts();
  if (const auto* given = dyn_cast<clang::CXXDefaultArgExpr>(inner))
    return bare_value(given->getExpr());
  if (const auto* given = dyn_cast<clang::CXXDefaultInitExpr>(inner))
    return bare_value(given->getExpr());
  if (const auto* full = dyn_cast<clang::FullExpr>(inner)) return bare_value(full->getSubExpr());
  if (const auto* temporary = dyn_cast<clang::MaterializeTemporaryExpr>(inner))
    return bare_value(temporary->getSubExpr());
  if (const auto* made = dyn_cast<clang::CXXFunctionalCastExpr>(inner);
      made != nullptr && made->getType()->isRecordType()) {
    return bare_value(made->getSubExpr());
  }
  if (const auto* copy = dyn_cast<clang::CXXConstructExpr>(inner);
      copy != nullptr && copy->getNumArgs() == 1 &&
      copy->getConstructor()->isCopyOrMoveConstructor()) {
    return bare_value(copy->getArg(0));
  }
  return inner;
}

}  // namespace regraph::source
