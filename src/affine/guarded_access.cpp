#include "affine/guarded_access.h"

#include "source/build.h"
#include "source/visitor.h"
#include "source/walk.h"

namespace regraph::affine {

namespace {

class GuardWalker final : public Visitor {
 public:
  explicit GuardWalker(const std::function<void(const GuardedAccess&)>& report) : report_(report) {}

 private:
  // Visits what `inside` does with the terms of the condition as guards.
  template <typename Inside>
  void under(const std::vector<ExprPtr>& terms, const Inside& inside) {
    const std::size_t depth = guards_.size();
    guards_.insert(guards_.end(), terms.begin(), terms.end());
    inside();
    guards_.resize(depth);
  }

  void visit(const Branch& stmt) override {
    stmt_ = &stmt;
    go(stmt.condition);
    under(conjuncts(stmt.condition), [&] { go(stmt.body); });
    under({negate(stmt.condition)}, [&] { go(stmt.otherwise); });
  }

  void visit(const Conditional& expr) override {
    go(expr.condition);
    under(conjuncts(expr.condition), [&] { go(expr.then); });
    under({negate(expr.condition)}, [&] { go(expr.otherwise); });
  }

  void visit(const Binary& expr) override {
    if (expr.op != BinaryOperator::logical_and) {
      Visitor::visit(expr);
      return;
    }
    go(expr.left);
    under(conjuncts(expr.left), [&] { go(expr.right); });
  }

  // Of a chain a[i][j] the whole is the access.
  void visit(const Subscript& expr) override {
    report_({&expr, stmt_, false, guards_});
    const Expr* base = &expr;
    std::vector<const Subscript*> chain;
    while (const auto* subscript = as<Subscript>(base)) {
      chain.push_back(subscript);
      base = subscript->base.get();
    }
    go(chain.back()->base);
    for (auto one = chain.rbegin(); one != chain.rend(); ++one)
      go((*one)->index);
  }

  void visit(const Declaration& stmt) override {
    stmt_ = &stmt;
    go(stmt.value);
  }

  void visit(const Evaluation& stmt) override {
    stmt_ = &stmt;
    go(stmt.value);
  }

  void visit(const WhileLoop& stmt) override {
    stmt_ = &stmt;
    go(stmt.condition);
    go(stmt.body);
  }

  // The header's first value and the condition; the step is taken to change the counter alone.
  void visit(const ForLoop& stmt) override {
    if (stmt.init) {
      stmt_ = stmt.init.get();
      go(value_of(*stmt.init));
    }
    stmt_ = &stmt;
    go(stmt.condition);
    go(stmt.body);
  }

  void visit(const Assignment& stmt) override {
    stmt_ = &stmt;
    target(stmt.target, stmt);
    go(stmt.value);
  }

  void target(const ExprPtr& node, const Assignment& stmt) {
    if (const auto* access = as<Subscript>(node)) {
      report_({access, stmt_, true, guards_});
      // A compound assignment reads what it writes.
      if (stmt.op != AssignmentOperator::assign) report_({access, stmt_, false, guards_});
      for (const ExprPtr& index : indices_of(*node))
        go(index);
      return;
    }
    for_each_operand(*node, [&](const ExprPtr& operand) { target(operand, stmt); });
  }

  const std::function<void(const GuardedAccess&)>& report_;
  const Stmt* stmt_ = nullptr;
  std::vector<ExprPtr> guards_;
};

}  // namespace

void for_each_guarded_access(const Block& block,
                             const std::function<void(const GuardedAccess&)>& visit) {
  GuardWalker(visit).go(block);
}

}  // namespace regraph::affine
