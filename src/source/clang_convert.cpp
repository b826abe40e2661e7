#include "source/clang_convert.h"

#include "source/analysis.h"
#include "source/clang_expressions.h"
#include "source/clang_signature.h"
#include "source/clang_statements.h"
#include "source/walk.h"

#include <clang/AST/Attr.h>

namespace regraph::source {
namespace {

using clang::dyn_cast;

KernelParameter convert_parameter(const clang::ParmVarDecl& parameter,
                                  const clang::PrintingPolicy& policy) {
  KernelParameter result;
  result.name = name_of_parameter(parameter);
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

bool holds_opaque(const Block& body) {
  bool found = false;
  walk(body, [&](const Stmt& stmt) { found = found || is<OpaqueStatement>(stmt); });
  walk_expressions(body, [&](const Expr& expr) { found = found || is<OpaqueExpression>(expr); });
  return found;
}

// `is_wanted`: also where no call was opened. `obstacle`: what has no form.
std::optional<Block> opened_body(const clang::FunctionDecl& function, clang::ASTContext& context,
                                 bool opens_memory_calls, bool is_wanted, std::string& obstacle) {
  StatementConverter statements(context, true, true, opens_memory_calls);
  const auto kernel = convert_with(statements, function);
  if (!kernel) return std::nullopt;
  if (statements.has_failed()) {
    obstacle = statements.obstacle();
    return std::nullopt;
  }
  if (!is_wanted && !statements.has_opened()) return std::nullopt;
  if (holds_opaque(kernel->body)) {
    obstacle = Analysis(*kernel).opaque().value_or("");
    return std::nullopt;
  }
  return kernel->body;
}

}  // namespace

Result<Kernel> convert_kernel(const clang::FunctionDecl& function, clang::ASTContext& context,
                              bool takes_apart) {
  StatementConverter statements(context, takes_apart, false);
  return convert_with(statements, function);
}

std::optional<Block> convert_opened(const clang::FunctionDecl& function, const Block& plain,
                                    clang::ASTContext& context, std::string& obstacle) {
  const bool is_wanted = holds_opaque(plain);
  if (auto whole = opened_body(function, context, true, is_wanted, obstacle)) return whole;
  std::string ignored;
  return opened_body(function, context, false, is_wanted, ignored);
}

}  // namespace regraph::source
