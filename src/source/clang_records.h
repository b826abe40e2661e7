// How structures that a kernel is passed lie in memory, read off Clang's tree. Used by
// clang_signature.cpp.
#pragma once

#include "kernel/problem.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Type.h>

#include <optional>
#include <vector>

namespace regraph::source {

struct RecordLayout {
  std::int64_t bytes = 0;
  std::vector<Field> fields;  // by byte; what has no simple type (unions, bit fields) is bytes
  bool has_pointers = false;
  // All of it is so many scalars of one type, without a gap.
  std::optional<ScalarType> only_type;
};

// Nothing for types that are no complete structures, or that have virtual functions.
[[nodiscard]] std::optional<RecordLayout> layout_of_record(clang::QualType type,
                                                           const clang::ASTContext& context);

// Scalar type and number of scalars of float4 and its like, and of arrays of scalars.
[[nodiscard]] std::pair<std::optional<ScalarType>, std::int64_t> components_of(
    clang::QualType type, const clang::ASTContext& context);

// Whether it is float4 or its like, or a pair of half: __half2, __nv_bfloat162.
[[nodiscard]] bool is_vector(clang::QualType type, const clang::ASTContext& context);

}  // namespace regraph::source
