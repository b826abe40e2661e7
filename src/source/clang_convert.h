// Clang AST of one __global__ function -> kernel IR. Only the clang_* units know Clang.
#pragma once

#include "base/result.h"
#include "kernel/problem.h"
#include "source/ir.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>

namespace regraph::source {

// Returns the kernel, or unsupported with what stands in the way (a statement kind the IR has no
// faithful form for). `takes_apart` as in FrontEndConfiguration.
[[nodiscard]] Result<Kernel> convert_kernel(const clang::FunctionDecl& function,
                                            clang::ASTContext& context, bool takes_apart);

}  // namespace regraph::source
