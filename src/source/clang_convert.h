// Clang AST of one __global__ function -> kernel IR. Only the clang_* units know Clang.
#pragma once

#include "base/result.h"
#include "kernel/problem.h"
#include "source/ir.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>

#include <optional>
#include <string>

namespace regraph::source {

// Returns the kernel, or unsupported with what stands in the way (a statement kind the IR has no
// faithful form for). `takes_apart` as in FrontEndConfiguration.
[[nodiscard]] Result<Kernel> convert_kernel(const clang::FunctionDecl& function,
                                            clang::ASTContext& context, bool takes_apart);

// The kernel's body with the functions that it calls in the place of their calls
// (clang_inline.h), and with what the IR has no node for said in other words: other code, of the
// same meaning. `plain`: the body as convert_kernel made it. Nothing where there is nothing to open
// and nothing opaque in `plain`, or where something has no form: of what is opaque in `plain`,
// `obstacle` is that, "line 7: 'text'".
[[nodiscard]] std::optional<Block> convert_opened(const clang::FunctionDecl& function,
                                                  const Block& plain, clang::ASTContext& context,
                                                  std::string& obstacle);

}  // namespace regraph::source
