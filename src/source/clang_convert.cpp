#include "source/clang_convert.h"

#include "source/build.h"
#include "source/clang_expressions.h"
#include "source/printer.h"

#include <clang/AST/Attr.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>

#include <map>
#include <set>
#include <utility>

namespace regraph::source {
namespace {

using clang::dyn_cast;
using clang::isa;

class Converter {
 public:
  explicit Converter(clang::ASTContext& context) : expressions_(context) {}

  Result<Kernel> convert(const clang::FunctionDecl& function) {
    Kernel kernel;
    kernel.name = function.getNameAsString();
    kernel.line = expressions_.line_of(function.getLocation());
    for (const clang::ParmVarDecl* parameter : function.parameters()) {
      kernel.parameters.push_back(convert_parameter(*parameter));
      expressions_.set_name(parameter, parameter->getNameAsString());
      declared_[parameter->getNameAsString()] = "parameter";
      if (parameter->getType()->isPointerType() &&
          parameter->getType()->getPointeeType()->isArrayType()) {
        return fail(ErrorCode::unsupported, "parameter '" + parameter->getNameAsString() +
                                                "' is a pointer to an array; the rewriter has no "
                                                "form for that (write a plain pointer)");
      }
    }
    if (const auto* bounds = function.getAttr<clang::CUDALaunchBoundsAttr>()) {
      kernel.launch_bounds_threads = expressions_.constant_of(bounds->getMaxThreads());
      if (bounds->getMinBlocks() != nullptr) {
        kernel.launch_bounds_min_blocks = expressions_.constant_of(bounds->getMinBlocks());
      }
      if (bounds->getMaxBlocks() != nullptr) {
        return fail(ErrorCode::unsupported, "__launch_bounds__ with a cluster size");
      }
    }
    const auto* body = dyn_cast<clang::CompoundStmt>(function.getBody());
    if (body == nullptr) return fail(ErrorCode::unsupported, "the kernel's body is not a block");
    kernel.body = convert_block(body);
    return kernel;
  }

 private:
  KernelParameter convert_parameter(const clang::ParmVarDecl& parameter) {
    KernelParameter result;
    result.name = parameter.getNameAsString();
    clang::QualType type = parameter.getType();
    if (type->isPointerType()) {
      const clang::QualType pointee = type->getPointeeType();
      result.is_pointer = true;
      result.points_to_const = pointee.isConstQualified();
      result.is_restrict = type.isRestrictQualified();
      result.type = pointee.getUnqualifiedType().getAsString(expressions_.policy());
      result.scalar = scalar_type_of(pointee);
    } else {
      result.type = type.getAsString(expressions_.policy());
      result.scalar = scalar_type_of(type);
    }
    return result;
  }

  StmtPtr opaque_stmt(const clang::Stmt* node) const {
    auto stmt = std::make_shared<Stmt>();
    stmt->kind = StmtKind::opaque;
    stmt->text = expressions_.text_of(node->getSourceRange());
    if (!stmt->text.ends_with(';') && !stmt->text.ends_with('}')) stmt->text += ";";
    stmt->line = expressions_.line_of(node->getBeginLoc());
    return stmt;
  }

  // Gives `declaration` a name that is unique unless the same meaning was declared under it before.
  std::string unique_name(const clang::VarDecl* declaration, const std::string& meaning) {
    const std::string stem = declaration->getNameAsString();
    std::string name = stem;
    for (int number = 2;; ++number) {
      const auto [entry, is_new] = declared_.emplace(name, meaning);
      if (is_new || entry->second == meaning) break;
      name = stem + "_" + std::to_string(number);
    }
    expressions_.set_name(declaration, name);
    return name;
  }

  // `loop_key` tells loops over different ranges apart, "" outside loop headers.
  StmtPtr convert_declaration(const clang::VarDecl* declaration, const std::string& loop_key) {
    clang::QualType type = declaration->getType();
    if (type->isReferenceType() || declaration->isStaticLocal()) {
      const bool is_shared = declaration->hasAttr<clang::CUDASharedAttr>();
      if (!is_shared) return nullptr;
    }
    Variable variable;
    if (declaration->hasAttr<clang::CUDASharedAttr>()) {
      variable.storage =
          declaration->hasExternalStorage() ? Storage::dynamic_shared : Storage::shared;
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
    variable.is_pointer = type->isPointerType();
    if (variable.is_pointer) {
      const clang::QualType pointee = type->getPointeeType();
      variable.type = pointee.getAsString(expressions_.policy());
      variable.scalar = scalar_type_of(pointee);
    } else {
      variable.type = type.getUnqualifiedType().getAsString(expressions_.policy());
      variable.scalar = scalar_type_of(type);
    }
    if (variable.type.find('(') != std::string::npos) return nullptr;  // function pointers, lambdas
    ExprPtr value;
    if (declaration->hasInit()) {
      const clang::Expr* init = declaration->getInit();
      const auto* construct = dyn_cast<clang::CXXConstructExpr>(init->IgnoreImplicit());
      const bool is_default = construct != nullptr && construct->getNumArgs() == 0;
      if (isa<clang::InitListExpr>(init->IgnoreParenImpCasts())) {
        auto list = std::make_shared<Expr>();
        list->text = expressions_.text_of(init->getSourceRange());
        value = list;
      } else if (!is_default) {
        value = expressions_.convert(init);
      }
    }
    const std::string meaning = variable.type + (variable.is_pointer ? "*" : "") + "|" +
                                (value ? print(value) : "") + "|" + loop_key;
    // Storage without a defining value must stay apart.
    variable.name = unique_name(
        declaration, value ? meaning : meaning + std::to_string(expressions_.name_count()));
    auto stmt = std::make_shared<Stmt>();
    stmt->kind = StmtKind::declare;
    stmt->variable = std::move(variable);
    stmt->value = std::move(value);
    stmt->line = expressions_.line_of(declaration->getBeginLoc());
    return stmt;
  }

  // An assignment, ++, -- or call in statement position; null when it is something else.
  StmtPtr convert_effect(const clang::Expr* expr) {
    const clang::Expr* inner = expr->IgnoreParenImpCasts();
    if (const auto* full = dyn_cast<clang::FullExpr>(inner))
      return convert_effect(full->getSubExpr());
    auto stmt = std::make_shared<Stmt>();
    stmt->line = expressions_.line_of(expr->getBeginLoc());
    if (const auto* op = dyn_cast<clang::BinaryOperator>(inner);
        op != nullptr && op->isAssignmentOp()) {
      stmt->kind = StmtKind::assign;
      stmt->text = op->getOpcodeStr().str();
      stmt->target = expressions_.convert(op->getLHS());
      stmt->value = expressions_.convert(op->getRHS());
      return stmt;
    }
    // __half and its like assign through an operator.
    if (const auto* op = dyn_cast<clang::CXXOperatorCallExpr>(inner);
        op != nullptr && op->isAssignmentOp() && op->getNumArgs() == 2) {
      stmt->kind = StmtKind::assign;
      stmt->text = clang::getOperatorSpelling(op->getOperator());
      stmt->target = expressions_.convert(op->getArg(0));
      stmt->value = expressions_.convert(op->getArg(1));
      return stmt->target->kind == ExprKind::opaque ? nullptr : stmt;
    }
    if (const auto* op = dyn_cast<clang::UnaryOperator>(inner);
        op != nullptr && op->isIncrementDecrementOp()) {
      stmt->kind = StmtKind::assign;
      stmt->text = op->isIncrementOp() ? "+=" : "-=";
      stmt->target = expressions_.convert(op->getSubExpr());
      stmt->value = integer(1);
      return stmt;
    }
    if (const auto* call_expr = dyn_cast<clang::CallExpr>(inner)) {
      const clang::FunctionDecl* callee = call_expr->getDirectCallee();
      if (callee != nullptr && callee->getNameAsString() == "__syncthreads") {
        stmt->kind = StmtKind::barrier;
        return stmt;
      }
      stmt->kind = StmtKind::evaluate;
      stmt->value = expressions_.convert(inner);
      return stmt->value->kind == ExprKind::call ? stmt : nullptr;
    }
    return nullptr;
  }

  Block convert_block(const clang::Stmt* node) {
    Block block;
    if (const auto* compound = dyn_cast<clang::CompoundStmt>(node)) {
      for (const clang::Stmt* child : compound->body())
        convert_into(child, block);
    } else if (node != nullptr) {
      convert_into(node, block);
    }
    return block;
  }

  StmtPtr convert_loop(const clang::ForStmt* loop, int unroll) {
    if (loop->getConditionVariable() != nullptr) return nullptr;
    auto stmt = std::make_shared<Stmt>();
    stmt->kind = StmtKind::loop;
    stmt->unroll = unroll;
    stmt->line = expressions_.line_of(loop->getForLoc());
    if (const auto* declarations = dyn_cast_or_null<clang::DeclStmt>(loop->getInit())) {
      if (!declarations->isSingleDecl()) return nullptr;
      const auto* declaration = dyn_cast<clang::VarDecl>(declarations->getSingleDecl());
      if (declaration == nullptr) return nullptr;
      std::string key =
          loop->getCond() != nullptr ? expressions_.text_of(loop->getCond()->getSourceRange()) : "";
      key +=
          ";" +
          (loop->getInc() != nullptr ? expressions_.text_of(loop->getInc()->getSourceRange()) : "");
      stmt->init = convert_declaration(declaration, key);
      if (!stmt->init) return nullptr;
    } else if (const auto* init = dyn_cast_or_null<clang::Expr>(loop->getInit())) {
      stmt->init = convert_effect(init);
      if (!stmt->init || stmt->init->kind != StmtKind::assign) return nullptr;
    } else if (loop->getInit() != nullptr) {
      return nullptr;
    }
    if (loop->getCond() != nullptr) stmt->value = expressions_.convert(loop->getCond());
    if (loop->getInc() != nullptr) {
      stmt->step = convert_effect(loop->getInc());
      if (!stmt->step || stmt->step->kind != StmtKind::assign) return nullptr;
    }
    stmt->body = convert_block(loop->getBody());
    return stmt;
  }

  static std::optional<int> unroll_of(const clang::AttributedStmt* attributed,
                                      const clang::ASTContext& context) {
    std::optional<int> unroll;
    for (const clang::Attr* attribute : attributed->getAttrs()) {
      const auto* hint = dyn_cast<clang::LoopHintAttr>(attribute);
      if (hint == nullptr) return std::nullopt;
      if (hint->getOption() == clang::LoopHintAttr::UnrollCount) {
        clang::Expr::EvalResult result;
        if (!hint->getValue()->EvaluateAsInt(result, context)) return std::nullopt;
        unroll = static_cast<int>(result.Val.getInt().getExtValue());
      } else if (hint->getOption() == clang::LoopHintAttr::Unroll) {
        const auto state = hint->getState();
        unroll = state == clang::LoopHintAttr::Disable ? 1 : kUnrollFully;
      } else {
        return std::nullopt;
      }
    }
    return unroll;
  }

  void convert_into(const clang::Stmt* node, Block& block) {
    if (node == nullptr || isa<clang::NullStmt>(node)) return;
    int unroll = kNoUnrollPragma;
    if (const auto* attributed = dyn_cast<clang::AttributedStmt>(node)) {
      const auto hint = unroll_of(attributed, expressions_.context());
      if (!hint || !isa<clang::ForStmt>(attributed->getSubStmt())) {
        block.push_back(opaque_stmt(node));
        return;
      }
      unroll = *hint;
      node = attributed->getSubStmt();
    }
    if (const auto* compound = dyn_cast<clang::CompoundStmt>(node)) {
      auto stmt = std::make_shared<Stmt>();
      stmt->kind = StmtKind::scope;
      stmt->body = convert_block(compound);
      block.push_back(stmt);
      return;
    }
    if (const auto* declarations = dyn_cast<clang::DeclStmt>(node)) {
      for (const clang::Decl* declaration : declarations->decls()) {
        if (isa<clang::TypedefNameDecl>(declaration) || isa<clang::StaticAssertDecl>(declaration)) {
          block.push_back(opaque_stmt(node));
          return;
        }
        const auto* variable_declaration = dyn_cast<clang::VarDecl>(declaration);
        StmtPtr stmt = variable_declaration != nullptr
                           ? convert_declaration(variable_declaration, "")
                           : nullptr;
        if (!stmt) {
          block.push_back(opaque_stmt(node));
          return;
        }
        block.push_back(std::move(stmt));
      }
      return;
    }
    StmtPtr stmt;
    if (const auto* loop = dyn_cast<clang::ForStmt>(node)) {
      stmt = convert_loop(loop, unroll);
    } else if (const auto* choice = dyn_cast<clang::IfStmt>(node)) {
      if (choice->getInit() == nullptr && choice->getConditionVariable() == nullptr &&
          !choice->isConstexpr()) {
        auto result = std::make_shared<Stmt>();
        result->kind = StmtKind::branch;
        result->line = expressions_.line_of(choice->getIfLoc());
        result->value = expressions_.convert(choice->getCond());
        result->body = convert_block(choice->getThen());
        if (choice->getElse() != nullptr) result->otherwise = convert_block(choice->getElse());
        stmt = result;
      }
    } else if (const auto* repeat = dyn_cast<clang::WhileStmt>(node)) {
      if (repeat->getConditionVariable() == nullptr) {
        auto result = std::make_shared<Stmt>();
        result->kind = StmtKind::repeat;
        result->line = expressions_.line_of(repeat->getWhileLoc());
        result->value = expressions_.convert(repeat->getCond());
        result->body = convert_block(repeat->getBody());
        stmt = result;
      }
    } else if (const auto* leave = dyn_cast<clang::ReturnStmt>(node);
               leave != nullptr && leave->getRetValue() == nullptr) {
      auto result = std::make_shared<Stmt>();
      result->kind = StmtKind::leave;
      result->line = expressions_.line_of(leave->getBeginLoc());
      stmt = result;
    } else if (isa<clang::BreakStmt>(node) || isa<clang::ContinueStmt>(node)) {
      auto result = std::make_shared<Stmt>();
      result->kind = StmtKind::jump;
      result->text = isa<clang::BreakStmt>(node) ? "break" : "continue";
      result->line = expressions_.line_of(node->getBeginLoc());
      stmt = result;
    } else if (const auto* expr = dyn_cast<clang::Expr>(node)) {
      stmt = convert_effect(expr);
    }
    block.push_back(stmt ? std::move(stmt) : opaque_stmt(node));
  }

  ExpressionConverter expressions_;
  std::map<std::string, std::string> declared_;  // name -> meaning of its declaration
};

}  // namespace

Result<Kernel> convert_kernel(const clang::FunctionDecl& function, clang::ASTContext& context) {
  return Converter(context).convert(function);
}

}  // namespace regraph::source
