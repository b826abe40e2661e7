#include "source/clang_convert.h"

#include <clang/AST/Attr.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>

#include <map>
#include <set>
#include <utility>

#include "source/build.h"
#include "source/printer.h"

namespace regraph::source {
namespace {

using clang::dyn_cast;
using clang::isa;

// Spelling of an integer literal's suffix by its type.
std::string suffix_of(ScalarType type) {
  switch (type) {
    case ScalarType::u32: return "u";
    case ScalarType::i64: return "ll";
    case ScalarType::u64: return "ull";
    default: return "";
  }
}

class Converter {
 public:
  explicit Converter(clang::ASTContext& context) : context_(context), policy_(context.getLangOpts()) {
    policy_.SuppressTagKeyword = true;
    policy_.Bool = true;
  }

  Result<Kernel> convert(const clang::FunctionDecl& function) {
    Kernel kernel;
    kernel.name = function.getNameAsString();
    kernel.line = line_of(function.getLocation());
    for (const clang::ParmVarDecl* parameter : function.parameters()) {
      kernel.parameters.push_back(convert_parameter(*parameter));
      names_[parameter] = parameter->getNameAsString();
      declared_[parameter->getNameAsString()] = "parameter";
    }
    if (const auto* bounds = function.getAttr<clang::CUDALaunchBoundsAttr>()) {
      kernel.launch_bounds_threads = constant_of(bounds->getMaxThreads());
      if (bounds->getMinBlocks() != nullptr) {
        kernel.launch_bounds_min_blocks = constant_of(bounds->getMinBlocks());
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
      result.type = pointee.getUnqualifiedType().getAsString(policy_);
      result.scalar = scalar_type_of(pointee);
    } else {
      result.type = type.getAsString(policy_);
      result.scalar = scalar_type_of(type);
    }
    return result;
  }

  int line_of(clang::SourceLocation location) const {
    return static_cast<int>(context_.getSourceManager().getExpansionLineNumber(location));
  }

  std::optional<int> constant_of(const clang::Expr* expr) const {
    clang::Expr::EvalResult result;
    if (expr == nullptr || !expr->EvaluateAsInt(result, context_)) return std::nullopt;
    return static_cast<int>(result.Val.getInt().getExtValue());
  }

  std::string text_of(clang::SourceRange range) const {
    const clang::SourceManager& sources = context_.getSourceManager();
    const auto characters =
        clang::Lexer::getAsCharRange(sources.getExpansionRange(range), sources, context_.getLangOpts());
    return clang::Lexer::getSourceText(characters, sources, context_.getLangOpts()).str();
  }

  // ---- expressions ----

  ExprPtr typed(ExprPtr expr, clang::QualType type) const {
    const auto scalar = scalar_type_of(type);
    if (!scalar || expr->type == scalar) return expr;
    auto copy = std::make_shared<Expr>(*expr);
    copy->type = scalar;
    return copy;
  }

  ExprPtr opaque_expr(const clang::Expr* node) const {
    auto expr = std::make_shared<Expr>();
    expr->kind = ExprKind::opaque;
    expr->text = "(" + text_of(node->getSourceRange()) + ")";
    expr->type = scalar_type_of(node->getType());
    return expr;
  }

  ExprPtr integer_literal(std::int64_t value, clang::QualType type) const {
    auto expr = std::make_shared<Expr>(*integer(value));
    const auto scalar = scalar_type_of(type);
    expr->type = scalar.value_or(ScalarType::i32);
    if (expr->type == ScalarType::u64) {
      expr->text = std::to_string(static_cast<std::uint64_t>(value));
    }
    expr->text += suffix_of(*expr->type);
    return expr;
  }

  // A plain node of the tree, without the folding that build.h does: the gate compares PTX.
  static ExprPtr node(ExprKind kind, std::string text, std::vector<ExprPtr> operands) {
    auto expr = std::make_shared<Expr>();
    expr->kind = kind;
    expr->text = std::move(text);
    expr->operands = std::move(operands);
    return expr;
  }

  ExprPtr convert_reference(const clang::DeclRefExpr* reference) {
    const clang::ValueDecl* declaration = reference->getDecl();
    if (const auto* constant = dyn_cast<clang::EnumConstantDecl>(declaration)) {
      return integer_literal(constant->getInitVal().getExtValue(), reference->getType());
    }
    const auto found = names_.find(declaration);
    if (found != names_.end()) return typed(variable(found->second), reference->getType());
    if (const auto* global = dyn_cast<clang::VarDecl>(declaration)) {
      // A file-scope constant: its value is what the analyses need.
      if (global->getType()->isIntegralType(context_) && global->getType().isConstQualified()) {
        clang::Expr::EvalResult result;
        if (reference->EvaluateAsInt(result, context_)) {
          return integer_literal(result.Val.getInt().getExtValue(), reference->getType());
        }
      }
      return typed(variable(global->getNameAsString(), std::nullopt), reference->getType());
    }
    return opaque_expr(reference);
  }

  ExprPtr convert_builtin(const clang::PseudoObjectExpr* pseudo) {
    const auto* property =
        dyn_cast<clang::MSPropertyRefExpr>(pseudo->getSyntacticForm()->IgnoreParens());
    if (property == nullptr) return opaque_expr(pseudo);
    const clang::Expr* base = property->getBaseExpr()->IgnoreParenImpCasts();
    if (const auto* value = dyn_cast<clang::OpaqueValueExpr>(base)) {
      base = value->getSourceExpr()->IgnoreParenImpCasts();
    }
    const auto* reference = dyn_cast<clang::DeclRefExpr>(base);
    if (reference == nullptr) return opaque_expr(pseudo);
    const std::string object = reference->getDecl()->getNameAsString();
    if (object != "threadIdx" && object != "blockIdx" && object != "blockDim" && object != "gridDim") {
      return opaque_expr(pseudo);
    }
    return builtin(object + "." + property->getPropertyDecl()->getNameAsString());
  }

  ExprPtr convert_unary(const clang::UnaryOperator* op) {
    switch (op->getOpcode()) {
      case clang::UO_Minus:
      case clang::UO_Plus:
      case clang::UO_Not:
      case clang::UO_LNot:
      case clang::UO_AddrOf:
        return node(ExprKind::unary, clang::UnaryOperator::getOpcodeStr(op->getOpcode()).str(),
                    {convert_expr(op->getSubExpr())});
      case clang::UO_Deref: {
        const auto* sum = dyn_cast<clang::BinaryOperator>(op->getSubExpr()->IgnoreParenImpCasts());
        if (sum != nullptr && sum->getOpcode() == clang::BO_Add &&
            sum->getLHS()->getType()->isPointerType()) {
          return node(ExprKind::index, "", {convert_expr(sum->getLHS()), convert_expr(sum->getRHS())});
        }
        return node(ExprKind::index, "", {convert_expr(op->getSubExpr()), integer(0)});
      }
      default: return opaque_expr(op);  // ++ and -- inside an expression among them
    }
  }

  ExprPtr convert_call(const clang::CallExpr* call_expr) {
    if (isa<clang::CXXMemberCallExpr>(call_expr) || isa<clang::CXXOperatorCallExpr>(call_expr)) {
      return opaque_expr(call_expr);
    }
    std::vector<ExprPtr> arguments;
    for (const clang::Expr* argument : call_expr->arguments()) {
      if (isa<clang::CXXDefaultArgExpr>(argument)) continue;
      arguments.push_back(convert_expr(argument));
    }
    return node(ExprKind::call, text_of(call_expr->getCallee()->getSourceRange()),
                std::move(arguments));
  }

  ExprPtr convert_expr(const clang::Expr* expr) {
    const clang::Expr* inner = expr->IgnoreParenImpCasts();
    if (const auto* full = dyn_cast<clang::FullExpr>(inner)) return convert_expr(full->getSubExpr());
    if (const auto* temporary = dyn_cast<clang::MaterializeTemporaryExpr>(inner)) {
      return convert_expr(temporary->getSubExpr());
    }
    return typed(convert_bare(inner), inner->getType());
  }

  ExprPtr convert_bare(const clang::Expr* inner) {
    if (const auto* literal = dyn_cast<clang::IntegerLiteral>(inner)) {
      return integer_literal(static_cast<std::int64_t>(literal->getValue().getZExtValue()),
                             literal->getType());
    }
    if (isa<clang::FloatingLiteral>(inner)) {
      const clang::SourceManager& sources = context_.getSourceManager();
      const clang::SourceLocation spelling = sources.getSpellingLoc(inner->getBeginLoc());
      const std::string text =
          clang::Lexer::getSourceText(clang::CharSourceRange::getTokenRange(spelling, spelling), sources,
                                      context_.getLangOpts())
              .str();
      return floating(text);
    }
    if (const auto* literal = dyn_cast<clang::CXXBoolLiteralExpr>(inner)) {
      auto value = std::make_shared<Expr>(*integer(literal->getValue() ? 1 : 0));
      value->text = literal->getValue() ? "true" : "false";
      return value;
    }
    if (const auto* reference = dyn_cast<clang::DeclRefExpr>(inner)) return convert_reference(reference);
    if (const auto* pseudo = dyn_cast<clang::PseudoObjectExpr>(inner)) return convert_builtin(pseudo);
    if (const auto* op = dyn_cast<clang::UnaryOperator>(inner)) return convert_unary(op);
    if (const auto* op = dyn_cast<clang::BinaryOperator>(inner)) {
      if (op->isAssignmentOp() || op->isCommaOp() || op->isPtrMemOp()) return opaque_expr(inner);
      return node(ExprKind::binary, op->getOpcodeStr().str(),
                  {convert_expr(op->getLHS()), convert_expr(op->getRHS())});
    }
    if (const auto* choice = dyn_cast<clang::ConditionalOperator>(inner)) {
      return node(ExprKind::conditional, "",
                  {convert_expr(choice->getCond()), convert_expr(choice->getTrueExpr()),
                   convert_expr(choice->getFalseExpr())});
    }
    if (const auto* subscript = dyn_cast<clang::ArraySubscriptExpr>(inner)) {
      return node(ExprKind::index, "",
                  {convert_expr(subscript->getBase()), convert_expr(subscript->getIdx())});
    }
    if (const auto* call_expr = dyn_cast<clang::CallExpr>(inner)) return convert_call(call_expr);
    if (const auto* explicit_cast = dyn_cast<clang::ExplicitCastExpr>(inner)) {
      if (!scalar_type_of(explicit_cast->getType())) return opaque_expr(inner);
      return cast(explicit_cast->getTypeAsWritten().getAsString(policy_),
                  convert_expr(explicit_cast->getSubExprAsWritten()));
    }
    if (const auto* access = dyn_cast<clang::MemberExpr>(inner)) {
      if (access->isArrow()) return opaque_expr(inner);
      return node(ExprKind::member, access->getMemberDecl()->getNameAsString(),
                  {convert_expr(access->getBase())});
    }
    if (const auto* construct = dyn_cast<clang::CXXConstructExpr>(inner)) {
      if (construct->getNumArgs() == 1 && construct->getConstructor()->isCopyOrMoveConstructor()) {
        return convert_expr(construct->getArg(0));
      }
      return opaque_expr(inner);
    }
    clang::Expr::EvalResult result;
    if (inner->getType()->isIntegralType(context_) && inner->EvaluateAsInt(result, context_)) {
      return integer_literal(result.Val.getInt().getExtValue(), inner->getType());
    }
    return opaque_expr(inner);
  }

  // ---- statements ----

  StmtPtr opaque_stmt(const clang::Stmt* node) const {
    auto stmt = std::make_shared<Stmt>();
    stmt->kind = StmtKind::opaque;
    stmt->text = text_of(node->getSourceRange());
    if (!stmt->text.ends_with(';') && !stmt->text.ends_with('}')) stmt->text += ";";
    stmt->line = line_of(node->getBeginLoc());
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
    names_[declaration] = name;
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
    while (const auto* array = context_.getAsArrayType(type)) {
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
      variable.type = pointee.getAsString(policy_);
      variable.scalar = scalar_type_of(pointee);
    } else {
      variable.type = type.getUnqualifiedType().getAsString(policy_);
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
        list->text = text_of(init->getSourceRange());
        value = list;
      } else if (!is_default) {
        value = convert_expr(init);
      }
    }
    const std::string meaning = variable.type + (variable.is_pointer ? "*" : "") + "|" +
                                (value ? print(value) : "") + "|" + loop_key;
    // Storage without a defining value must stay apart.
    variable.name = unique_name(declaration, value ? meaning : meaning + std::to_string(names_.size()));
    auto stmt = std::make_shared<Stmt>();
    stmt->kind = StmtKind::declare;
    stmt->variable = std::move(variable);
    stmt->value = std::move(value);
    stmt->line = line_of(declaration->getBeginLoc());
    return stmt;
  }

  // An assignment, ++, -- or call in statement position; null when it is something else.
  StmtPtr convert_effect(const clang::Expr* expr) {
    const clang::Expr* inner = expr->IgnoreParenImpCasts();
    if (const auto* full = dyn_cast<clang::FullExpr>(inner)) return convert_effect(full->getSubExpr());
    auto stmt = std::make_shared<Stmt>();
    stmt->line = line_of(expr->getBeginLoc());
    if (const auto* op = dyn_cast<clang::BinaryOperator>(inner); op != nullptr && op->isAssignmentOp()) {
      stmt->kind = StmtKind::assign;
      stmt->text = op->getOpcodeStr().str();
      stmt->target = convert_expr(op->getLHS());
      stmt->value = convert_expr(op->getRHS());
      return stmt;
    }
    if (const auto* op = dyn_cast<clang::UnaryOperator>(inner);
        op != nullptr && op->isIncrementDecrementOp()) {
      stmt->kind = StmtKind::assign;
      stmt->text = op->isIncrementOp() ? "+=" : "-=";
      stmt->target = convert_expr(op->getSubExpr());
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
      stmt->value = convert_expr(inner);
      return stmt->value->kind == ExprKind::call ? stmt : nullptr;
    }
    return nullptr;
  }

  Block convert_block(const clang::Stmt* node) {
    Block block;
    if (const auto* compound = dyn_cast<clang::CompoundStmt>(node)) {
      for (const clang::Stmt* child : compound->body()) convert_into(child, block);
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
    stmt->line = line_of(loop->getForLoc());
    if (const auto* declarations = dyn_cast_or_null<clang::DeclStmt>(loop->getInit())) {
      if (!declarations->isSingleDecl()) return nullptr;
      const auto* declaration = dyn_cast<clang::VarDecl>(declarations->getSingleDecl());
      if (declaration == nullptr) return nullptr;
      std::string key = loop->getCond() != nullptr ? text_of(loop->getCond()->getSourceRange()) : "";
      key += ";" + (loop->getInc() != nullptr ? text_of(loop->getInc()->getSourceRange()) : "");
      stmt->init = convert_declaration(declaration, key);
      if (!stmt->init) return nullptr;
    } else if (const auto* init = dyn_cast_or_null<clang::Expr>(loop->getInit())) {
      stmt->init = convert_effect(init);
      if (!stmt->init || stmt->init->kind != StmtKind::assign) return nullptr;
    } else if (loop->getInit() != nullptr) {
      return nullptr;
    }
    if (loop->getCond() != nullptr) stmt->value = convert_expr(loop->getCond());
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
      const auto hint = unroll_of(attributed, context_);
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
        StmtPtr stmt =
            variable_declaration != nullptr ? convert_declaration(variable_declaration, "") : nullptr;
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
        result->line = line_of(choice->getIfLoc());
        result->value = convert_expr(choice->getCond());
        result->body = convert_block(choice->getThen());
        if (choice->getElse() != nullptr) result->otherwise = convert_block(choice->getElse());
        stmt = result;
      }
    } else if (const auto* repeat = dyn_cast<clang::WhileStmt>(node)) {
      if (repeat->getConditionVariable() == nullptr) {
        auto result = std::make_shared<Stmt>();
        result->kind = StmtKind::repeat;
        result->line = line_of(repeat->getWhileLoc());
        result->value = convert_expr(repeat->getCond());
        result->body = convert_block(repeat->getBody());
        stmt = result;
      }
    } else if (const auto* leave = dyn_cast<clang::ReturnStmt>(node);
               leave != nullptr && leave->getRetValue() == nullptr) {
      auto result = std::make_shared<Stmt>();
      result->kind = StmtKind::leave;
      result->line = line_of(leave->getBeginLoc());
      stmt = result;
    } else if (isa<clang::BreakStmt>(node) || isa<clang::ContinueStmt>(node)) {
      auto result = std::make_shared<Stmt>();
      result->kind = StmtKind::jump;
      result->text = isa<clang::BreakStmt>(node) ? "break" : "continue";
      result->line = line_of(node->getBeginLoc());
      stmt = result;
    } else if (const auto* expr = dyn_cast<clang::Expr>(node)) {
      stmt = convert_effect(expr);
    }
    block.push_back(stmt ? std::move(stmt) : opaque_stmt(node));
  }

  clang::ASTContext& context_;
  clang::PrintingPolicy policy_;
  std::map<const clang::ValueDecl*, std::string> names_;
  std::map<std::string, std::string> declared_;  // name -> meaning of its declaration
};

}  // namespace

std::optional<ScalarType> scalar_type_of(clang::QualType type) {
  const clang::QualType canonical = type.getCanonicalType().getUnqualifiedType();
  clang::PrintingPolicy policy{clang::LangOptions()};
  policy.SuppressTagKeyword = true;
  policy.Bool = true;
  return scalar_type_from_cuda_name(canonical.getAsString(policy));
}

Result<Kernel> convert_kernel(const clang::FunctionDecl& function, clang::ASTContext& context) {
  return Converter(context).convert(function);
}

}  // namespace regraph::source
