// Declarations of a kernel -> IR: names, references, values and arrays (clang_statements.h).
#include "source/build.h"
#include "source/clang_effects.h"
#include "source/clang_statements.h"
#include "source/printer.h"

#include <clang/AST/Attr.h>
#include <clang/AST/ExprCXX.h>

#include <utility>

namespace regraph::source {
namespace {

using clang::dyn_cast;
using clang::isa;

}  // namespace

void StatementConverter::declare(const clang::VarDecl& declaration, ExprPtr value, bool is_const,
                                 Block& block) {
  const std::string name = declare_variable(declaration.getNameAsString(), declaration.getType(),
                                            std::move(value), is_const, block);
  expressions_.set_name(&declaration, name);
}

std::string StatementConverter::declare_result(const std::string& stem, clang::QualType type,
                                               ExprPtr value, bool is_const, Block& block) {
  return declare_variable(stem, type, std::move(value), is_const, block);
}

std::optional<std::string> StatementConverter::declare_field(const clang::VarDecl& object,
                                                             const std::string& stem,
                                                             clang::QualType type, ExprPtr value,
                                                             Block& block) {
  Variable variable;
  const bool is_shared = object.hasAttr<clang::CUDASharedAttr>();
  if (is_shared && object.hasExternalStorage()) return std::nullopt;
  if (is_shared) variable.storage = Storage::shared;
  clang::QualType whole = object.getType();
  whole = take_extents(whole, variable);
  if (whole->isArrayType()) return std::nullopt;
  variable.is_const = value != nullptr && !is_changing(object);
  // An array may be handed on by its first element.
  if (type->isArrayType()) variable.is_const = object.getType().isConstQualified();
  type = take_extents(type, variable);
  variable.is_pointer = type->isPointerType();
  const clang::QualType element = variable.is_pointer ? type->getPointeeType() : type;
  variable.type = expressions_.spelling_of(element.getUnqualifiedType());
  variable.scalar = scalar_type_of(element);
  if (variable.is_pointer) variable.type = expressions_.spelling_of(element);
  variable.name = unique_name(stem, "of an object");
  const std::string name = variable.name;
  const bool is_hoisted = is_shared && inliner_.is_inside();
  (is_hoisted ? shared_ : block)
      .push_back(at(object.getBeginLoc(),
                    std::make_shared<Declaration>(std::move(variable), std::move(value))));
  return name;
}

std::string StatementConverter::declare_shared(const std::string& stem, clang::QualType type,
                                               std::int64_t extent) {
  Variable variable =
      local_variable(unique_name(stem, "#" + std::to_string(declared_.size())),
                     expressions_.spelling_of(type), scalar_type_of(type), {extent});
  variable.storage = Storage::shared;
  const std::string name = variable.name;
  shared_.push_back(source::declare(std::move(variable), nullptr));
  return name;
}

clang::QualType StatementConverter::take_extents(clang::QualType type, Variable& variable) const {
  while (const auto* array = expressions_.context().getAsConstantArrayType(type)) {
    variable.extents.push_back(static_cast<std::int64_t>(array->getSize().getZExtValue()));
    type = array->getElementType();
  }
  return type;
}

std::string StatementConverter::declare_variable(const std::string& stem, clang::QualType type,
                                                 ExprPtr value, bool is_const, Block& block) {
  Variable variable;
  const clang::QualType plain =
      take_extents(type.getNonReferenceType(), variable).getUnqualifiedType();
  variable.is_pointer = plain->isPointerType();
  const clang::QualType element = variable.is_pointer ? plain->getPointeeType() : plain;
  variable.type = expressions_.spelling_of(element);
  variable.scalar = scalar_type_of(element);
  variable.is_const = is_const;
  variable.name =
      unique_name(stem.empty() ? "value" : stem, "of a call#" + std::to_string(declared_.size()));
  block.push_back(std::make_shared<Declaration>(variable, std::move(value)));
  return variable.name;
}

std::string StatementConverter::unique_name(const clang::VarDecl* declaration,
                                            const std::string& meaning) {
  std::string name = unique_name(declaration->getNameAsString(), meaning);
  expressions_.set_name(declaration, name);
  return name;
}

std::string StatementConverter::unique_name(const std::string& stem, std::string meaning) {
  // A function's names stand beside those of its next call.
  if (inliner_.is_inside()) meaning += "#" + std::to_string(declared_.size());
  std::string name = stem;
  for (int number = 2;; ++number) {
    const auto [entry, is_new] = declared_.emplace(name, meaning);
    if (is_new || entry->second == meaning) break;
    name = stem + "_" + std::to_string(number);
  }
  return name;
}

void StatementConverter::convert_declarations(const clang::DeclStmt* node, Block& block) {
  Block converted;
  for (const clang::Decl* declaration : node->decls()) {
    if (isa<clang::StaticAssertDecl>(declaration)) continue;
    // Types are spelt out where they are used.
    if (opens_ && (isa<clang::TypedefNameDecl>(declaration) || isa<clang::UsingDecl>(declaration) ||
                   isa<clang::UsingDirectiveDecl>(declaration) ||
                   isa<clang::NamespaceAliasDecl>(declaration))) {
      continue;
    }
    const auto* variable = dyn_cast<clang::VarDecl>(declaration);
    Block after;
    StmtPtr stmt =
        variable != nullptr ? convert_declaration(variable, "", converted, &after) : nullptr;
    if (!stmt) {
      block.push_back(opaque_stmt(node));
      return;
    }
    if (!is_nothing(*stmt)) converted.push_back(std::move(stmt));
    converted.insert(converted.end(), after.begin(), after.end());
  }
  block.insert(block.end(), converted.begin(), converted.end());
}

StmtPtr StatementConverter::convert_declaration(const clang::VarDecl* declaration,
                                                const std::string& loop_key, Block& block,
                                                Block* after) {
  const clang::QualType type = declaration->getType();
  const bool is_shared = declaration->hasAttr<clang::CUDASharedAttr>();
  // Functions are looked up where they are called.
  const clang::QualType whole = expressions_.context().getBaseElementType(type);
  if (opens_ && whole.isConstQualified() && whole->isFunctionPointerType()) return scope({});
  // Groups of threads, and what cub keeps for itself: calls of theirs are written out.
  if (opens_ && is_library_object(type)) return scope({});
  // Operations that are objects: what they do is taken.
  if (opens_ && !is_shared && (is_empty_record(type) || is_lambda(type))) return scope({});
  if (type->isReferenceType() && !is_shared) return convert_reference(declaration, block);
  if (opens_) {
    const clang::ASTContext& context = expressions_.context();
    const auto* record = flat_record(context.getBaseElementType(type), context);
    if (record != nullptr)
      return inliner_.declare_object(*declaration, *record, block) ? scope({}) : nullptr;
  }
  if (declaration->isStaticLocal() && !is_shared) {
    // Uses of a constant are its value.
    const bool is_constant = type.isConstQualified() && type->isIntegralOrEnumerationType() &&
                             declaration->hasInit() && declaration->evaluateValue() != nullptr;
    if (is_constant) return scope({});
    // Where nothing changes it, each call may have its own.
    if (!opens_ || !(declaration->isConstexpr() ||
                     (type.isConstQualified() && declaration->hasConstantInitialization()))) {
      return nullptr;
    }
  }
  return convert_value(declaration, type, loop_key, block, after);
}

StmtPtr StatementConverter::convert_value(const clang::VarDecl* declaration, clang::QualType type,
                                          const std::string& loop_key, Block& block, Block* after) {
  Variable variable;
  if (declaration->hasAttr<clang::CUDASharedAttr>()) {
    variable.storage =
        declaration->hasExternalStorage() ? Storage::dynamic_shared : Storage::shared;
    // What has no extent is the same memory under each of its names, of which a call's is one more.
    if (variable.storage == Storage::dynamic_shared) {
      auto& names = inliner_.is_inside() ? dynamic_of_calls_ : dynamic_of_kernel_;
      names.insert(declaration->getCanonicalDecl());
      if (dynamic_of_calls_.size() + dynamic_of_kernel_.size() > 1 && !dynamic_of_calls_.empty())
        return nullptr;
    }
    // One for all calls.
    if (inliner_.is_inside() && expressions_.has_name(declaration)) return scope({});
  }
  if (declaration->hasAttr<clang::AlignedAttr>()) {
    constexpr unsigned kBitsPerByte = 8;
    variable.alignment = static_cast<int>(declaration->getMaxAlignment() / kBitsPerByte);
  }
  while (const auto* array = expressions_.context().getAsArrayType(type)) {
    if (const auto* constant = dyn_cast<clang::ConstantArrayType>(array)) {
      variable.extents.push_back(static_cast<std::int64_t>(constant->getSize().getZExtValue()));
    } else if (isa<clang::IncompleteArrayType>(array)) {
      variable.extents.push_back(0);
    } else {
      return nullptr;
    }
    type = array->getElementType();
  }
  variable.is_const = type.isConstQualified() || declaration->isConstexpr();
  const bool is_deduced = declaration->getType()->getContainedDeducedType() != nullptr;
  const auto spelling = [&](clang::QualType of) {
    return is_deduced ? expressions_.spelling_of_deduced(of) : expressions_.spelling_of(of);
  };
  variable.is_pointer = type->isPointerType();
  if (variable.is_pointer) {
    const clang::QualType pointee = type->getPointeeType();
    variable.type = spelling(pointee);
    variable.scalar = scalar_type_of(pointee);
  } else {
    variable.type = spelling(type.getUnqualifiedType());
    variable.scalar = scalar_type_of(type);
  }
  if (variable.type.find('(') != std::string::npos) return nullptr;  // function pointers, lambdas
  ExprPtr value;
  if (declaration->hasInit()) {
    const clang::Expr* init = declaration->getInit();
    const auto* construct = dyn_cast<clang::CXXConstructExpr>(init->IgnoreImplicit());
    const bool is_default =
        construct != nullptr && construct->getNumArgs() == 0 &&
        !(construct->requiresZeroInitialization() || construct->isListInitialization());
    if (isa<clang::InitListExpr>(init->IgnoreParenImpCasts())) {
      take_calls(init, &block);
      value = has_effects(*init) ? nullptr : expressions_.convert_list(init);
      if (!value) {
        value = std::make_shared<OpaqueExpression>(expressions_.text_of(init), std::nullopt);
      }
    } else if (!is_default) {
      const auto* chain = takes_apart_ ? chain_of(init) : nullptr;
      if (chain != nullptr) take_calls(init, &block);
      value = chain != nullptr ? value_of_chain(chain, block) : value_of(init, block, after);
      // The text of x(a) begins with the name.
      const bool is_named =
          construct != nullptr && construct->getBeginLoc() == declaration->getLocation();
      if (is_named && is<OpaqueExpression>(value)) return nullptr;
    }
  }
  const std::string meaning = variable.type + (variable.is_pointer ? "*" : "") + "|" +
                              (value ? print(value) : "") + "|" + loop_key;
  // Storage without a defining value must stay apart.
  variable.name = unique_name(
      declaration, value ? meaning : meaning + std::to_string(expressions_.name_count()));
  const bool is_hoisted = inliner_.is_inside() && variable.storage == Storage::shared;
  StmtPtr stmt = at(declaration->getBeginLoc(),
                    std::make_shared<Declaration>(std::move(variable), std::move(value)));
  if (!is_hoisted) return stmt;
  shared_.push_back(std::move(stmt));
  return scope({});
}

}  // namespace regraph::source
