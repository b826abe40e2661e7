#include "source/statements.h"

namespace regraph::source {
namespace {

const Block kNoBlock;
const ExprPtr kNoExpr;

template <typename Node>
std::shared_ptr<Node> copy_of(const StmtPtr& stmt) {
  return std::make_shared<Node>(to<Node>(stmt));
}

}  // namespace

const Block& body_of(const Stmt& stmt) {
  switch (stmt.kind()) {
    case StmtKind::branch:
      return to<Branch>(stmt).body;
    case StmtKind::for_loop:
      return to<ForLoop>(stmt).body;
    case StmtKind::while_loop:
      return to<WhileLoop>(stmt).body;
    case StmtKind::scope:
      return to<Scope>(stmt).body;
    default:
      return kNoBlock;
  }
}

const Block& otherwise_of(const Stmt& stmt) {
  return is<Branch>(stmt) ? to<Branch>(stmt).otherwise : kNoBlock;
}

const ExprPtr& value_of(const Stmt& stmt) {
  switch (stmt.kind()) {
    case StmtKind::declaration:
      return to<Declaration>(stmt).value;
    case StmtKind::assignment:
      return to<Assignment>(stmt).value;
    case StmtKind::evaluation:
      return to<Evaluation>(stmt).value;
    case StmtKind::branch:
      return to<Branch>(stmt).condition;
    case StmtKind::for_loop:
      return to<ForLoop>(stmt).condition;
    case StmtKind::while_loop:
      return to<WhileLoop>(stmt).condition;
    default:
      return kNoExpr;
  }
}

const ExprPtr& target_of(const Stmt& stmt) {
  return is<Assignment>(stmt) ? to<Assignment>(stmt).target : kNoExpr;
}

StmtPtr with_blocks(const StmtPtr& stmt, Block body, Block otherwise) {
  if (body == body_of(*stmt) && otherwise == otherwise_of(*stmt)) return stmt;
  switch (stmt->kind()) {
    case StmtKind::branch: {
      auto copy = copy_of<Branch>(stmt);
      copy->body = std::move(body);
      copy->otherwise = std::move(otherwise);
      return copy;
    }
    case StmtKind::for_loop: {
      auto copy = copy_of<ForLoop>(stmt);
      copy->body = std::move(body);
      return copy;
    }
    case StmtKind::while_loop: {
      auto copy = copy_of<WhileLoop>(stmt);
      copy->body = std::move(body);
      return copy;
    }
    case StmtKind::scope: {
      auto copy = copy_of<Scope>(stmt);
      copy->body = std::move(body);
      return copy;
    }
    default:
      return stmt;
  }
}

}  // namespace regraph::source
