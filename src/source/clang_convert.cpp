#include "source/clang_convert.h"

#include "source/clang_expressions.h"
#include "source/clang_statements.h"
#include "source/walk.h"

#include <clang/AST/Attr.h>

namespace regraph::source {
namespace {

using clang::dyn_cast;

KernelParameter convert_parameter(const clang::ParmVarDecl& parameter,
                                  const clang::PrintingPolicy& policy) {
  KernelParameter result;
  result.name = parameter.getNameAsString();
  clang::QualType type = parameter.getType();
  if (type->isPointerType()) {
    const clang::QualType pointee = type->getPointeeType();
    result.is_pointer = true;
    result.points_to_const = pointee.isConstQualified();
    result.is_restrict = type.isRestrictQualified();
    result.type = pointee.getUnqualifiedType().getAsString(policy);
    result.scalar = scalar_type_of(pointee);
  } else {
    result.type = type.getAsString(policy);
    result.scalar = scalar_type_of(type);
  }
  return result;
}

// As convert_kernel, with what the statements are converted by.
Result<Kernel> convert_with(StatementConverter& statements, const clang::FunctionDecl& function) {
  const ExpressionConverter& expressions = statements.expressions();
  Kernel kernel;
  kernel.name = function.getNameAsString();
  kernel.line = expressions.line_of(function.getLocation());
  for (const clang::ParmVarDecl* parameter : function.parameters()) {
    kernel.parameters.push_back(convert_parameter(*parameter, expressions.policy()));
    statements.declare_parameter(*parameter);
    if (parameter->getType()->isPointerType() &&
        parameter->getType()->getPointeeType()->isArrayType()) {
      return fail(ErrorCode::unsupported, "parameter '" + parameter->getNameAsString() +
                                              "' is a pointer to an array; the rewriter has no "
                                              "form for that (write a plain pointer)");
    }
  }
  if (const auto* bounds = function.getAttr<clang::CUDALaunchBoundsAttr>()) {
    kernel.launch_bounds_threads = expressions.constant_of(bounds->getMaxThreads());
    if (bounds->getMinBlocks() != nullptr) {
      kernel.launch_bounds_min_blocks = expressions.constant_of(bounds->getMinBlocks());
    }
    if (bounds->getMaxBlocks() != nullptr) {
      return fail(ErrorCode::unsupported, "__launch_bounds__ with a cluster size");
    }
  }
  const auto* body = dyn_cast<clang::CompoundStmt>(function.getBody());
  if (body == nullptr) return fail(ErrorCode::unsupported, "the kernel's body is not a block");
  kernel.body = statements.convert_kernel_body(function, *body);
  return kernel;
}

std::optional<Block> opened_body(const clang::FunctionDecl& function, clang::ASTContext& context,
                                 bool opens_memory_calls) {
  StatementConverter statements(context, true, true, opens_memory_calls);
  const auto kernel = convert_with(statements, function);
  if (!kernel || !statements.has_opened()) return std::nullopt;
  bool is_opaque = false;
  walk(kernel->body, [&](const Stmt& stmt) { is_opaque = is_opaque || is<OpaqueStatement>(stmt); });
  walk_expressions(kernel->body,
                   [&](const Expr& expr) { is_opaque = is_opaque || is<OpaqueExpression>(expr); });
  if (is_opaque) return std::nullopt;
  return kernel->body;
}

}  // namespace

Result<Kernel> convert_kernel(const clang::FunctionDecl& function, clang::ASTContext& context,
                              bool takes_apart) {
  StatementConverter statements(context, takes_apart, false);
  return convert_with(statements, function);
}

std::optional<Block> convert_opened(const clang::FunctionDecl& function,
                                    clang::ASTContext& context) {
  if (auto whole = opened_body(function, context, true)) return whole;
  return opened_body(function, context, false);
}

}  // namespace regraph::source
