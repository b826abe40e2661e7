#include "source/clang_statements.h"

#include "source/build.h"
#include "source/clang_control.h"
#include "source/clang_effects.h"
#include "source/clang_loop_header.h"

#include <clang/AST/Attr.h>
#include <clang/AST/ExprCXX.h>

#include <utility>

namespace regraph::source {
namespace {

using clang::dyn_cast;
using clang::isa;

}  // namespace

void StatementConverter::declare_parameter(const clang::ParmVarDecl& parameter) {
  expressions_.set_name(&parameter, parameter.getNameAsString());
  declared_[parameter.getNameAsString()] = "parameter";
}

Block StatementConverter::convert_kernel_body(const clang::FunctionDecl& function,
                                              const clang::CompoundStmt& body) {
  changing_ = changing_variables(body);
  if (opens_) note_ends(body);
  if (opens_) note_records(function);
  Block block = convert_block(&body);
  block.insert(block.begin(), shared_.begin(), shared_.end());
  return block;
}

void StatementConverter::note_ends(const clang::CompoundStmt& body) {
  for (auto stmt = body.body_rbegin(); stmt != body.body_rend(); ++stmt) {
    const clang::Stmt* last = *stmt;
    while (const auto* label = dyn_cast<clang::LabelStmt>(last)) {
      ends_.insert(label->getDecl());
      last = label->getSubStmt();
    }
    const auto* leave = dyn_cast<clang::ReturnStmt>(last);
    if (!isa<clang::NullStmt>(last) && (leave == nullptr || leave->getRetValue() != nullptr)) {
      // Behind these labels there is something to do.
      for (const clang::Stmt* inner = *stmt; const auto* label = dyn_cast<clang::LabelStmt>(inner);
           inner = label->getSubStmt())
        ends_.erase(label->getDecl());
      return;
    }
  }
}

void StatementConverter::note_records(const clang::FunctionDecl& function) {
  for (const clang::ParmVarDecl* parameter : function.parameters()) {
    const auto* record = flat_record(parameter->getType(), expressions_.context());
    if (record == nullptr) continue;
    const ExprPtr place = variable(parameter->getNameAsString(), std::nullopt);
    expressions_.set_object(parameter, CallInliner::fields_at(place, *record));
  }
}

StmtPtr StatementConverter::opaque_stmt(const clang::Stmt* node) const {
  std::string text = expressions_.text_of(node);
  if (!text.ends_with(';') && !text.ends_with('}')) text += ";";
  return at(node->getBeginLoc(), std::make_shared<OpaqueStatement>(std::move(text)));
}

Block StatementConverter::convert_block(const clang::Stmt* node) {
  if (node == nullptr) return {};
  Block block;
  if (const auto* compound = dyn_cast<clang::CompoundStmt>(node)) {
    for (const clang::Stmt* child : compound->body())
      convert_into(child, block);
  } else {
    convert_into(node, block);
  }
  return block;
}

void StatementConverter::convert_into(const clang::Stmt* node, Block& block) {
  if (node == nullptr || isa<clang::NullStmt>(node)) return;
  if (const auto* declarations = dyn_cast<clang::DeclStmt>(node)) {
    convert_declarations(declarations, block);
    return;
  }
  // In front of the statement and behind it, if it has a form at all.
  Block before;
  Block after;
  StmtPtr stmt;
  if (const auto* attributed = dyn_cast<clang::AttributedStmt>(node)) {
    const auto unroll = unroll_of(attributed, expressions_.context());
    const auto* loop = dyn_cast<clang::ForStmt>(attributed->getSubStmt());
    if (!unroll || loop == nullptr) {
      block.push_back(opaque_stmt(node));
      return;
    }
    node = loop;
    stmt = convert_loop(loop, *unroll, before);
  } else {
    stmt = convert_statement(node, before, after);
  }
  if (!stmt) {
    block.push_back(opaque_stmt(node));
    return;
  }
  block.insert(block.end(), before.begin(), before.end());
  if (!is_nothing(*stmt)) block.push_back(std::move(stmt));
  block.insert(block.end(), after.begin(), after.end());
}

StmtPtr StatementConverter::convert_statement(const clang::Stmt* node, Block& before,
                                              Block& after) {
  if (const auto* compound = dyn_cast<clang::CompoundStmt>(node)) {
    Block body = convert_block(compound);
    return scope(std::move(body));
  }
  if (const auto* loop = dyn_cast<clang::ForStmt>(node))
    return convert_loop(loop, kNoUnrollPragma, before);
  if (const auto* choice = dyn_cast<clang::IfStmt>(node)) return convert_branch(choice, before);
  if (const auto* repeat = dyn_cast<clang::WhileStmt>(node)) return convert_while(repeat);
  if (const auto* repeat = dyn_cast<clang::DoStmt>(node)) return convert_do(repeat);
  if (const auto* choice = dyn_cast<clang::SwitchStmt>(node))
    return opens_ ? convert_switch(choice, before) : nullptr;
  // goto end; ... end: return;
  if (const auto* jump = dyn_cast<clang::GotoStmt>(node); jump != nullptr) {
    const bool ends = ends_.contains(jump->getLabel()) && !inliner_.is_inside();
    return ends ? at(jump->getGotoLoc(), std::make_shared<Return>()) : nullptr;
  }
  if (const auto* label = dyn_cast<clang::LabelStmt>(node))
    return ends_.contains(label->getDecl()) && !inliner_.is_inside() ? scope({}) : nullptr;
  if (const auto* leave = dyn_cast<clang::ReturnStmt>(node)) {
    if (leave->getRetValue() != nullptr) return nullptr;
    return at(leave->getBeginLoc(), std::make_shared<Return>());
  }
  if (isa<clang::BreakStmt>(node))
    return at(node->getBeginLoc(), std::make_shared<Jump>(JumpKind::break_loop));
  if (isa<clang::ContinueStmt>(node))
    return at(node->getBeginLoc(), std::make_shared<Jump>(JumpKind::continue_loop));
  const auto* expr = dyn_cast<clang::Expr>(node);
  if (expr == nullptr) return nullptr;
  // They held wherever the original ran; what a step makes of it asks nothing.
  if (opens_ && is_assertion(*expr)) {
    left_out_ = true;
    return scope({});
  }
  std::vector<const clang::Expr*> parts;
  take_apart(expr, parts);
  if (!takes_apart_ && parts.size() > 1) return nullptr;
  StmtPtr stmt;
  for (const clang::Expr* part : parts) {
    if (stmt) before.push_back(std::move(stmt));
    before.insert(before.end(), after.begin(), after.end());
    after.clear();
    // (void)unused;
    const auto* nothing = dyn_cast<clang::CStyleCastExpr>(part->IgnoreParens());
    const bool is_unused = nothing != nullptr && nothing->getType()->isVoidType() &&
                           isa<clang::DeclRefExpr>(nothing->getSubExpr()->IgnoreParenImpCasts());
    stmt = is_unused ? scope({}) : convert_effect(part, before, after);
    if (!stmt) return nullptr;
  }
  return stmt;
}

StmtPtr StatementConverter::convert_branch(const clang::IfStmt* choice, Block& before) {
  if (choice->getInit() != nullptr || choice->getConditionVariable() != nullptr) return nullptr;
  if (choice->isConstexpr()) {
    bool holds = false;
    if (!choice->getCond()->EvaluateAsBooleanCondition(holds, expressions_.context()))
      return nullptr;
    return scope(convert_block(holds ? choice->getThen() : choice->getElse()));
  }
  const auto holds = opens_ ? decided(*choice->getCond(), expressions_.context()) : std::nullopt;
  if (holds) {
    left_out_ = true;
    return scope(convert_block(*holds ? choice->getThen() : choice->getElse()));
  }
  ExprPtr condition = value_of(choice->getCond(), before);
  Block body = convert_block(choice->getThen());
  Block otherwise = choice->getElse() != nullptr ? convert_block(choice->getElse()) : Block();
  return at(choice->getIfLoc(),
            std::make_shared<Branch>(std::move(condition), std::move(body), std::move(otherwise)));
}

}  // namespace regraph::source
