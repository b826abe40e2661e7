#include "source/clang_signature.h"

#include "source/clang_expressions.h"

#include <clang/AST/Attr.h>
#include <clang/AST/ExprCXX.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>
#include <utility>

namespace regraph::source {
namespace {

// Scalar type and number of scalars of float4 and its like, and of arrays of scalars.
std::pair<std::optional<ScalarType>, std::int64_t> components_of(clang::QualType type,
                                                                 const clang::ASTContext& context) {
  if (type->isConstantArrayType()) {
    std::int64_t count = 1;
    while (const auto* array = context.getAsConstantArrayType(type)) {
      count *= static_cast<std::int64_t>(array->getSize().getZExtValue());
      type = array->getElementType();
    }
    return {scalar_type_of(type), count};
  }
  const auto* record = type->getAsCXXRecordDecl();
  if (record == nullptr || !record->hasDefinition()) return {};
  std::string name = type.getCanonicalType().getUnqualifiedType().getAsString();
  name = name.substr(name.find(' ') == std::string::npos ? 0 : name.find(' ') + 1);
  constexpr std::array<std::string_view, 12> kFamilies = {
      "char", "uchar", "short",    "ushort",    "int",   "uint",
      "long", "ulong", "longlong", "ulonglong", "float", "double"};
  const bool is_vector =
      name.size() > 1 && name.back() >= '1' && name.back() <= '4' &&
      std::find(kFamilies.begin(), kFamilies.end(),
                std::string_view(name).substr(0, name.size() - 1)) != kFamilies.end();
  if (!is_vector) return {};
  return {scalar_type_of(record->field_begin()->getType()), name.back() - '0'};
}

// A variable of constant memory that the host fills, as an input of the kernel.
Result<Parameter> constant_symbol(const clang::VarDecl& variable, const clang::ASTContext& context,
                                  const std::string& where, int line) {
  Parameter symbol;
  symbol.name = variable.getNameAsString();
  symbol.is_pointer = symbol.points_to_const = symbol.is_symbol = true;
  symbol.line = line;
  clang::QualType type = variable.getType();
  symbol.symbol_elements = 1;
  while (const auto* array = context.getAsConstantArrayType(type)) {
    symbol.symbol_elements *= static_cast<std::int64_t>(array->getSize().getZExtValue());
    type = array->getElementType();
  }
  auto scalar = scalar_type_of(type);
  if (!scalar) {
    std::int64_t components = 1;
    std::tie(scalar, components) = components_of(type, context);
    symbol.symbol_elements *= components;
  }
  if (!scalar) {
    return fail(ErrorCode::unsupported,
                where + "__constant__ '" + symbol.name + "' has type '" +
                    variable.getType().getAsString() +
                    "'; only scalars and arrays of scalars can be filled, so pass it as a "
                    "pointer argument or give it an initial value");
  }
  symbol.type = *scalar;
  return symbol;
}

// Whether the program gives the variable a value. Structures have a constructor call that does
// nothing.
bool is_initialised(const clang::VarDecl& variable) {
  const auto* construct =
      variable.hasInit() ? clang::dyn_cast<clang::CXXConstructExpr>(variable.getInit()) : nullptr;
  return variable.hasInit() && (construct == nullptr || construct->getNumArgs() > 0);
}

}  // namespace

Status collect_symbols(const clang::DeclContext& scope, const clang::ASTContext& context,
                       const std::string& file_name, KernelSignature& signature) {
  const clang::SourceManager& sources = context.getSourceManager();
  for (const clang::Decl* declaration : scope.decls()) {
    if (const auto* inner = clang::dyn_cast<clang::NamespaceDecl>(declaration)) {
      if (Status status = collect_symbols(*inner, context, file_name, signature); !status)
        return status;
    }
    const auto* variable = clang::dyn_cast<clang::VarDecl>(declaration);
    if (variable == nullptr ||
        !sources.isWrittenInMainFile(sources.getExpansionLoc(variable->getLocation()))) {
      continue;
    }
    const auto line = static_cast<int>(sources.getExpansionLineNumber(variable->getLocation()));
    const std::string where = file_name + ":" + std::to_string(line) + ": ";
    if (variable->hasAttr<clang::CUDAConstantAttr>()) {
      if (is_initialised(*variable)) continue;
      auto symbol = constant_symbol(*variable, context, where, line);
      if (!symbol) return std::move(symbol).error();
      signature.parameters.push_back(std::move(*symbol));
    } else if (variable->hasAttr<clang::CUDADeviceAttr>() &&
               !variable->getType().isConstQualified()) {
      return fail(ErrorCode::unsupported,
                  where + "__device__ '" + variable->getNameAsString() +
                      "' keeps state between launches, which is not supported; pass it "
                      "as a pointer argument or make it const");
    }
  }
  return {};
}

Result<KernelSignature> signature_of(const clang::FunctionDecl& function,
                                     const clang::ASTContext& context,
                                     const std::string& file_name) {
  const clang::SourceManager& sources = context.getSourceManager();
  KernelSignature signature;
  signature.name = function.getQualifiedNameAsString();
  for (const clang::ParmVarDecl* declaration : function.parameters()) {
    Parameter parameter;
    parameter.name = declaration->getNameAsString();
    parameter.line = static_cast<int>(sources.getExpansionLineNumber(declaration->getLocation()));
    clang::QualType type = declaration->getType();
    parameter.is_pointer = type->isPointerType();
    if (parameter.is_pointer) type = type->getPointeeType();
    parameter.points_to_const = parameter.is_pointer && type.isConstQualified();
    auto scalar = scalar_type_of(type);
    if (!scalar && parameter.is_pointer) {
      std::tie(scalar, parameter.components) = components_of(type, context);
    }
    const std::string where = file_name + ":" + std::to_string(parameter.line) + ": ";
    if (!scalar) {
      return fail(
          ErrorCode::unsupported,
          where + "parameter '" + parameter.name + "' has type '" +
              declaration->getType().getAsString() +
              "'; only scalars and pointers to scalars, vectors such as float4 and arrays of "
              "scalars can be passed");
    }
    if (parameter.name.empty()) {
      return fail(ErrorCode::unsupported, where + "a parameter of the kernel has no name");
    }
    parameter.type = *scalar;
    signature.parameters.push_back(std::move(parameter));
  }
  return signature;
}

}  // namespace regraph::source
