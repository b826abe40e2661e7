#include "rewrite/analysis/guarded_access.h"

#include "source/analysis.h"
#include "source/walk.h"

namespace regraph::rewrite {

using source::Block;
using source::ExprKind;
using source::ExprPtr;
using source::Stmt;
using source::StmtKind;
using source::StmtPtr;

namespace {

class GuardWalker {
 public:
  explicit GuardWalker(const std::function<void(const GuardedAccess&)>& visit) : visit_(visit) {}

  void block(const Block& statements) {
    for (const StmtPtr& stmt : statements) {
      stmt_ = stmt.get();
      if (stmt->kind == StmtKind::branch) {
        expr(stmt->value, false);
        const std::size_t depth = guards_.size();
        for (const ExprPtr& term : source::conjuncts(stmt->value))
          guards_.push_back(term);
        block(stmt->body);
        guards_.resize(depth);
        guards_.push_back(source::negate(stmt->value));
        block(stmt->otherwise);
        guards_.resize(depth);
        continue;
      }
      if (stmt->init) {
        stmt_ = stmt->init.get();
        expr(stmt->init->value, false);
      }
      stmt_ = stmt.get();
      if (stmt->target) target(stmt->target);
      if (stmt->value) expr(stmt->value, false);
      block(stmt->body);
    }
  }

 private:
  void target(const ExprPtr& node) {
    if (node->kind == ExprKind::index) {
      visit_({node.get(), stmt_, true, guards_});
      // A compound assignment reads what it writes.
      if (stmt_->text != "=") visit_({node.get(), stmt_, false, guards_});
      for (const ExprPtr& index : source::indices_of(node))
        expr(index, false);
      return;
    }
    for (const ExprPtr& operand : node->operands)
      target(operand);
  }

  void expr(const ExprPtr& node, bool below_index) {
    if (!node) return;
    if (node->kind == ExprKind::conditional) {
      expr(node->operands[0], false);
      const std::size_t depth = guards_.size();
      for (const ExprPtr& term : source::conjuncts(node->operands[0]))
        guards_.push_back(term);
      expr(node->operands[1], false);
      guards_.resize(depth);
      guards_.push_back(source::negate(node->operands[0]));
      expr(node->operands[2], false);
      guards_.resize(depth);
      return;
    }
    if (node->kind == ExprKind::binary && node->text == "&&") {
      expr(node->operands[0], false);
      const std::size_t depth = guards_.size();
      for (const ExprPtr& term : source::conjuncts(node->operands[0]))
        guards_.push_back(term);
      expr(node->operands[1], false);
      guards_.resize(depth);
      return;
    }
    if (node->kind == ExprKind::index) {
      if (!below_index) visit_({node.get(), stmt_, false, guards_});
      expr(node->operands[0], true);
      expr(node->operands[1], false);
      return;
    }
    for (const ExprPtr& operand : node->operands)
      expr(operand, false);
  }

  const std::function<void(const GuardedAccess&)>& visit_;
  const Stmt* stmt_ = nullptr;
  std::vector<ExprPtr> guards_;
};

}  // namespace

void for_each_guarded_access(const Block& block,
                             const std::function<void(const GuardedAccess&)>& visit) {
  GuardWalker(visit).block(block);
}

}  // namespace regraph::rewrite
