// What a kernel is passed, read off Clang's tree. Used by clang_frontend.cpp.
#pragma once

#include "base/result.h"
#include "kernel/problem.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>

#include <string>

namespace regraph::source {

// What a kernel's parameter is called here: "unnamed_2" for the third, where it has no name.
[[nodiscard]] std::string name_of_parameter(const clang::ParmVarDecl& parameter);

// Name and parameters. Error: unsupported, for a parameter that cannot be passed.
[[nodiscard]] Result<KernelSignature> signature_of(const clang::FunctionDecl& function,
                                                   const clang::ASTContext& context,
                                                   const std::string& file_name);

// Adds the variables at file scope that a host fills as inputs. Error: unsupported, for those that
// carry state from launch to launch: they have no meaning here, where the harness launches the
// kernel alone.
[[nodiscard]] Status collect_symbols(const clang::DeclContext& scope,
                                     const clang::ASTContext& context, const std::string& file_name,
                                     KernelSignature& signature);

}  // namespace regraph::source
