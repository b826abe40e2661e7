// Objects of the user's records as a variable for each field. Used where calls are taken into the
// kernel's body (clang_inline.h): only there is everything known that happens to an object.
#pragma once

#include "source/ir.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/Expr.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace regraph::source {

// What the fields of an object are: variables, elements of arrays, values. A null value was not
// set yet.
struct Object {
  std::map<const clang::FieldDecl*, ExprPtr> values;  // scalars, pointers and arrays of scalars
  std::map<const clang::FieldDecl*, Object> parts;    // records
};

// Whether the type is a record, or refers to one, without anything in it.
[[nodiscard]] bool is_empty_record(clang::QualType type);

// Whether the type is that of a lambda, or refers to it.
[[nodiscard]] bool is_lambda(clang::QualType type);

// Whether the type is an array of scalars or vectors, of a length that is known; of several
// dimensions, too.
[[nodiscard]] bool is_flat_array(clang::QualType type, const clang::ASTContext& context);

// The record, if its objects can be taken apart: it is defined in the user's file, and all its
// fields and those of its bases are scalars, pointers, arrays of scalars and such records; nothing
// happens when an object ends. Null for anything else, and for references and pointers to records.
[[nodiscard]] const clang::CXXRecordDecl* flat_record(clang::QualType type,
                                                      const clang::ASTContext& context);

// Fields in the order of their declaration, those of bases first, without those that have nothing
// in them.
[[nodiscard]] std::vector<const clang::FieldDecl*> fields_of_record(
    const clang::CXXRecordDecl& record);

// One scalar, pointer or array within a record.
struct Leaf {
  std::string name;  // "_low_x" of low.x: to follow the object's name
  const clang::FieldDecl* field = nullptr;
};

// The object with every value replaced by what `change` makes of it.
[[nodiscard]] Object map_object(const clang::CXXRecordDecl& record, const Object& object,
                                const std::function<ExprPtr(const Leaf&, const ExprPtr&)>& change);

// The expression as it was before it was copied, converted or given a place.
[[nodiscard]] const clang::Expr* bare_value(const clang::Expr* expr);

}  // namespace regraph::source
