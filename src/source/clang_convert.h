// Clang AST of one __global__ function -> kernel IR. Only clang_frontend.cpp and this unit know Clang.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>

#include "base/result.h"
#include "kernel/problem.h"
#include "source/ir.h"

namespace regraph::source {

// Returns the kernel, or unsupported with what stands in the way (a statement kind the IR has no
// faithful form for).
[[nodiscard]] Result<Kernel> convert_kernel(const clang::FunctionDecl& function,
                                            clang::ASTContext& context);

// Returns the scalar type of a Clang type, or nothing (structs, pointers, vectors).
[[nodiscard]] std::optional<ScalarType> scalar_type_of(clang::QualType type);

}  // namespace regraph::source
