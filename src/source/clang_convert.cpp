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

  template <typename Node>
  StmtPtr at(clang::SourceLocation location, std::shared_ptr<Node> stmt) const {
    stmt->line = expressions_.line_of(location);
    return stmt;
  }

  StmtPtr opaque_stmt(const clang::Stmt* node) const {
    std::string text = expressions_.text_of(node->getSourceRange());
    if (!text.ends_with(';') && !text.ends_with('}')) text += ";";
    return at(node->getBeginLoc(), std::make_shared<OpaqueStatement>(std::move(text)));
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
    if (declaration->hasAttr<clang::AlignedAttr>()) {
      variable.alignment = static_cast<int>(declaration->getMaxAlignment() / 8);  // from bits
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
        value = std::make_shared<OpaqueExpression>(expressions_.text_of(init->getSourceRange()),
                                                   std::nullopt);
      } else if (!is_default) {
        value = expressions_.convert(init);
      }
    }
    const std::string meaning = variable.type + (variable.is_pointer ? "*" : "") + "|" +
                                (value ? print(value) : "") + "|" + loop_key;
    // Storage without a defining value must stay apart.
    variable.name = unique_name(
        declaration, value ? meaning : meaning + std::to_string(expressions_.name_count()));
    return at(declaration->getBeginLoc(),
              std::make_shared<Declaration>(std::move(variable), std::move(value)));
  }

  StmtPtr assignment(const clang::Expr* at_expr, const clang::Expr* target, const std::string& op,
                     const clang::Expr* value) {
    const ExprPtr assigned = expressions_.convert(target);
    return at(
        at_expr->getBeginLoc(),
        std::make_shared<Assignment>(assigned, *assignment_operator(op),
                                     value != nullptr ? expressions_.convert(value) : integer(1)));
  }

  // An assignment, ++, -- or call in statement position; null when it is something else.
  StmtPtr convert_effect(const clang::Expr* expr) {
    const clang::Expr* inner = expr->IgnoreParenImpCasts();
    if (const auto* full = dyn_cast<clang::FullExpr>(inner))
      return convert_effect(full->getSubExpr());
    if (const auto* op = dyn_cast<clang::BinaryOperator>(inner);
        op != nullptr && op->isAssignmentOp()) {
      return assignment(expr, op->getLHS(), op->getOpcodeStr().str(), op->getRHS());
    }
    // __half and its like assign through an operator.
    if (const auto* op = dyn_cast<clang::CXXOperatorCallExpr>(inner);
        op != nullptr && op->isAssignmentOp() && op->getNumArgs() == 2) {
      StmtPtr stmt = assignment(expr, op->getArg(0), clang::getOperatorSpelling(op->getOperator()),
                                op->getArg(1));
      return is<OpaqueExpression>(target_of(*stmt)) ? nullptr : stmt;
    }
    if (const auto* op = dyn_cast<clang::UnaryOperator>(inner);
        op != nullptr && op->isIncrementDecrementOp()) {
      return assignment(expr, op->getSubExpr(), op->isIncrementOp() ? "+=" : "-=", nullptr);
    }
    if (const auto* call_expr = dyn_cast<clang::CallExpr>(inner)) {
      const clang::FunctionDecl* callee = call_expr->getDirectCallee();
      if (callee != nullptr && callee->getNameAsString() == "__syncthreads")
        return at(expr->getBeginLoc(), std::make_shared<Barrier>());
      ExprPtr value = expressions_.convert(inner);
      if (!is<Call>(value)) return nullptr;
      return at(expr->getBeginLoc(), std::make_shared<Evaluation>(std::move(value)));
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

  // The header's first part in `init`; false where the IR has no form for it.
  bool convert_init(const clang::ForStmt* loop, StmtPtr& init) {
    if (const auto* declarations = dyn_cast_or_null<clang::DeclStmt>(loop->getInit())) {
      if (!declarations->isSingleDecl()) return false;
      const auto* declaration = dyn_cast<clang::VarDecl>(declarations->getSingleDecl());
      if (declaration == nullptr) return false;
      std::string key =
          loop->getCond() != nullptr ? expressions_.text_of(loop->getCond()->getSourceRange()) : "";
      key +=
          ";" +
          (loop->getInc() != nullptr ? expressions_.text_of(loop->getInc()->getSourceRange()) : "");
      init = convert_declaration(declaration, key);
      return init != nullptr;
    }
    if (const auto* effect = dyn_cast_or_null<clang::Expr>(loop->getInit())) {
      init = convert_effect(effect);
      return is<Assignment>(init);
    }
    return loop->getInit() == nullptr;
  }

  StmtPtr convert_loop(const clang::ForStmt* loop, int unroll) {
    if (loop->getConditionVariable() != nullptr) return nullptr;
    StmtPtr init;
    if (!convert_init(loop, init)) return nullptr;
    ExprPtr condition;
    if (loop->getCond() != nullptr) condition = expressions_.convert(loop->getCond());
    StmtPtr step;
    if (loop->getInc() != nullptr) {
      step = convert_effect(loop->getInc());
      if (!is<Assignment>(step)) return nullptr;
    }
    auto stmt = std::make_shared<ForLoop>(std::move(init), std::move(condition), std::move(step),
                                          convert_block(loop->getBody()));
    stmt->unroll = unroll;
    return at(loop->getForLoc(), std::move(stmt));
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
    if (const auto* declarations = dyn_cast<clang::DeclStmt>(node)) {
      convert_declarations(declarations, block);
      return;
    }
    StmtPtr stmt;
    if (const auto* attributed = dyn_cast<clang::AttributedStmt>(node)) {
      const auto unroll = unroll_of(attributed, expressions_.context());
      const auto* loop = dyn_cast<clang::ForStmt>(attributed->getSubStmt());
      if (!unroll || loop == nullptr) {
        block.push_back(opaque_stmt(node));
        return;
      }
      node = loop;
      stmt = convert_loop(loop, *unroll);
    } else {
      stmt = convert_statement(node);
    }
    block.push_back(stmt ? std::move(stmt) : opaque_stmt(node));
  }

  void convert_declarations(const clang::DeclStmt* node, Block& block) {
    for (const clang::Decl* declaration : node->decls()) {
      const auto* variable = dyn_cast<clang::VarDecl>(declaration);
      StmtPtr stmt = variable != nullptr ? convert_declaration(variable, "") : nullptr;
      if (!stmt) {
        block.push_back(opaque_stmt(node));
        return;
      }
      block.push_back(std::move(stmt));
    }
  }

  // Null for what the IR has no form for.
  StmtPtr convert_statement(const clang::Stmt* node) {
    if (const auto* compound = dyn_cast<clang::CompoundStmt>(node))
      return scope(convert_block(compound));
    if (const auto* loop = dyn_cast<clang::ForStmt>(node))
      return convert_loop(loop, kNoUnrollPragma);
    if (const auto* choice = dyn_cast<clang::IfStmt>(node)) return convert_branch(choice);
    if (const auto* repeat = dyn_cast<clang::WhileStmt>(node)) {
      if (repeat->getConditionVariable() != nullptr) return nullptr;
      ExprPtr condition = expressions_.convert(repeat->getCond());
      return at(repeat->getWhileLoc(), std::make_shared<WhileLoop>(
                                           std::move(condition), convert_block(repeat->getBody())));
    }
    if (const auto* leave = dyn_cast<clang::ReturnStmt>(node)) {
      if (leave->getRetValue() != nullptr) return nullptr;
      return at(leave->getBeginLoc(), std::make_shared<Return>());
    }
    if (isa<clang::BreakStmt>(node))
      return at(node->getBeginLoc(), std::make_shared<Jump>(JumpKind::break_loop));
    if (isa<clang::ContinueStmt>(node))
      return at(node->getBeginLoc(), std::make_shared<Jump>(JumpKind::continue_loop));
    if (const auto* expr = dyn_cast<clang::Expr>(node)) return convert_effect(expr);
    return nullptr;
  }

  StmtPtr convert_branch(const clang::IfStmt* choice) {
    if (choice->getInit() != nullptr || choice->getConditionVariable() != nullptr ||
        choice->isConstexpr()) {
      return nullptr;
    }
    ExprPtr condition = expressions_.convert(choice->getCond());
    Block body = convert_block(choice->getThen());
    Block otherwise = choice->getElse() != nullptr ? convert_block(choice->getElse()) : Block();
    return at(choice->getIfLoc(), std::make_shared<Branch>(std::move(condition), std::move(body),
                                                           std::move(otherwise)));
  }

  ExpressionConverter expressions_;
  std::map<std::string, std::string> declared_;  // name -> meaning of its declaration
};

}  // namespace

Result<Kernel> convert_kernel(const clang::FunctionDecl& function, clang::ASTContext& context) {
  return Converter(context).convert(function);
}

}  // namespace regraph::source
