#include "source/clang_signature.h"

#include "source/clang_expressions.h"
#include "source/clang_records.h"

#include <clang/AST/Attr.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>

#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

namespace regraph::source {
namespace {

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

// Counts uses of a variable, and those that only read it.
class ReadCounter : public clang::RecursiveASTVisitor<ReadCounter> {
 public:
  explicit ReadCounter(const clang::VarDecl& variable) : variable_(variable) {}
  [[nodiscard]] static bool shouldVisitTemplateInstantiations() { return true; }
  [[nodiscard]] bool only_reads() const { return uses_ == reads_; }

  // NOLINTNEXTLINE(readability-identifier-naming): Clang calls it.
  bool VisitDeclRefExpr(clang::DeclRefExpr* use) {
    if (use->getDecl() == &variable_) ++uses_;
    return true;
  }
  // NOLINTNEXTLINE(readability-identifier-naming): Clang calls it.
  bool VisitImplicitCastExpr(clang::ImplicitCastExpr* cast) {
    const bool loads = cast->getCastKind() == clang::CK_LValueToRValue;
    // As a pointer to const it may be handed on.
    const clang::QualType type = cast->getType();
    const bool hands_on = cast->getCastKind() == clang::CK_NoOp && type->isPointerType() &&
                          type->getPointeeType().isConstQualified();
    if ((loads || hands_on) && is_place_in(cast->getSubExpr())) ++reads_;
    return true;
  }

 private:
  // table, table[i], &table[i], table[i].x
  [[nodiscard]] bool is_place_in(const clang::Expr* expr) const {
    for (;;) {
      expr = expr->IgnoreParens();
      if (const auto* use = clang::dyn_cast<clang::DeclRefExpr>(expr))
        return use->getDecl() == &variable_;
      if (const auto* element = clang::dyn_cast<clang::ArraySubscriptExpr>(expr)) {
        expr = element->getBase();
      } else if (const auto* member = clang::dyn_cast<clang::MemberExpr>(expr)) {
        expr = member->getBase();
      } else if (const auto* address = clang::dyn_cast<clang::UnaryOperator>(expr)) {
        if (address->getOpcode() != clang::UO_AddrOf) return false;
        expr = address->getSubExpr();
      } else if (const auto* cast = clang::dyn_cast<clang::ImplicitCastExpr>(expr)) {
        if (cast->getCastKind() != clang::CK_ArrayToPointerDecay) return false;
        expr = cast->getSubExpr();
      } else {
        return false;
      }
    }
  }

  const clang::VarDecl& variable_;
  int uses_ = 0;
  int reads_ = 0;
};

// A table with its numbers that nothing writes is the same in every launch.
bool is_table(const clang::VarDecl& variable) {
  if (!is_initialised(variable)) return false;
  ReadCounter counter(variable);
  counter.TraverseDecl(variable.getASTContext().getTranslationUnitDecl());
  return counter.only_reads();
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
               !variable->getType().isConstQualified() && !is_table(*variable)) {
      return fail(ErrorCode::unsupported,
                  where + "__device__ '" + variable->getNameAsString() +
                      "' keeps state between launches, which is not supported; pass it "
                      "as a pointer argument or make it const");
    }
  }
  return {};
}

namespace {

// A structure behind a pointer, in bytes; of scalars that are all alike as those. False: it cannot
// be passed.
bool take_elements(clang::QualType type, const clang::ASTContext& context, Parameter& parameter) {
  auto record = layout_of_record(type, context);
  if (!record || record->has_pointers) return false;
  parameter.type = record->only_type.value_or(ScalarType::u8);
  parameter.components = record->bytes / static_cast<std::int64_t>(size_in_bytes(parameter.type));
  if (record->only_type) return true;
  parameter.record_bytes = record->bytes;
  parameter.fields = std::move(record->fields);
  return true;
}

// A structure by value; the pointers in it become parameters that are not passed.
bool take_record(clang::QualType type, const clang::ASTContext& context, Parameter& parameter,
                 std::vector<Parameter>& inside) {
  auto record = layout_of_record(type, context);
  if (!record) return false;
  parameter.type = ScalarType::u8;
  parameter.record_bytes = record->bytes;
  for (const Field& field : record->fields) {
    if (!field.is_pointer) continue;
    Parameter pointer;
    pointer.name = parameter.name + "." + field.name;
    pointer.type = field.type;
    pointer.components = field.components;
    pointer.is_pointer = true;
    pointer.points_to_const = field.points_to_const;
    pointer.line = parameter.line;
    pointer.inside = parameter.name;
    pointer.inside_byte = field.byte;
    inside.push_back(std::move(pointer));
  }
  parameter.fields = std::move(record->fields);
  return true;
}

}  // namespace

std::string name_of_parameter(const clang::ParmVarDecl& parameter) {
  const std::string name = parameter.getNameAsString();
  return name.empty() ? "unnamed_" + std::to_string(parameter.getFunctionScopeIndex()) : name;
}

Result<KernelSignature> signature_of(const clang::FunctionDecl& function,
                                     const clang::ASTContext& context,
                                     const std::string& file_name) {
  const clang::SourceManager& sources = context.getSourceManager();
  KernelSignature signature;
  signature.name = function.getQualifiedNameAsString();
  std::vector<Parameter> inside;  // of structures
  for (const clang::ParmVarDecl* declaration : function.parameters()) {
    Parameter parameter;
    parameter.name = name_of_parameter(*declaration);
    parameter.line = static_cast<int>(sources.getExpansionLineNumber(declaration->getLocation()));
    const std::string where = file_name + ":" + std::to_string(parameter.line) + ": ";
    clang::QualType type = declaration->getType();
    parameter.is_pointer = type->isPointerType();
    if (parameter.is_pointer) type = type->getPointeeType();
    parameter.points_to_const = parameter.is_pointer && type.isConstQualified();
    if (type->isEnumeralType()) type = type->castAs<clang::EnumType>()->getDecl()->getIntegerType();
    auto scalar = scalar_type_of(type);
    // The kernel knows what is there; we compare its bytes.
    if (parameter.is_pointer && type->isVoidType()) scalar = ScalarType::u8;
    if (!scalar && parameter.is_pointer) {
      std::tie(scalar, parameter.components) = components_of(type, context);
    }
    if (scalar) {
      parameter.type = *scalar;
    } else if (!(parameter.is_pointer ? take_elements(type, context, parameter)
                                      : take_record(type, context, parameter, inside))) {
      return fail(ErrorCode::unsupported,
                  where + "parameter '" + parameter.name + "' has type '" +
                      declaration->getType().getAsString() +
                      "'; scalars and structures can be passed, and pointers to either, unless the "
                      "structures hold pointers themselves");
    }
    signature.parameters.push_back(std::move(parameter));
  }
  signature.parameters.insert(signature.parameters.end(), std::make_move_iterator(inside.begin()),
                              std::make_move_iterator(inside.end()));
  return signature;
}

}  // namespace regraph::source
