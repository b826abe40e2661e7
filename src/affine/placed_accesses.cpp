#include "affine/placed_accesses.h"

#include "source/build.h"
#include "source/match.h"
#include "source/visitor.h"
#include "source/walk.h"

#include <utility>

namespace regraph::affine {

namespace {

class Placer final : public Visitor {
 public:
  explicit Placer(const Analysis& analysis) : analysis_(analysis) {}

  PlacedAccesses found;

  // Visitor::go gives references; loops are needed as shared pointers.
  void walk(const StmtPtr& stmt) {
    stmt_ = stmt.get();
    if (const auto* loop = as<ForLoop>(stmt)) {
      go_header(*loop);
      under(around_loop(stmt, loop->body), [&] {
        go(loop->condition);
        walk(loop->body);
        go(loop->step);
      });
    } else if (const auto* repeated = as<WhileLoop>(stmt)) {
      under(around_loop(stmt, repeated->body), [&] {
        go(repeated->condition);
        walk(repeated->body);
      });
    } else if (const auto* branch = as<Branch>(stmt)) {
      go(branch->condition);
      under_terms(conjuncts(branch->condition), [&] { walk(branch->body); });
      under_terms({negate(branch->condition)}, [&] { walk(branch->otherwise); });
    } else if (is<Scope>(stmt)) {
      walk(body_of(*stmt));
    } else {
      go(stmt);
    }
  }

 private:
  void walk(const Block& block) {
    for (const StmtPtr& stmt : block)
      walk(stmt);
  }

  void go_header(const ForLoop& loop) { go(loop.init); }

  static Surrounding around_loop(const StmtPtr& stmt, const Block& body) {
    Surrounding result;
    result.loop = stmt;
    result.counted = counted_loop_of(*stmt);
    source::walk(body, [&](const Stmt& inner) {
      result.may_be_left = result.may_be_left || is<Jump>(inner) || is<Return>(inner);
    });
    return result;
  }

  template <typename Inside>
  void under(Surrounding surrounding, const Inside& inside) {
    around_.push_back(std::move(surrounding));
    inside();
    around_.pop_back();
  }

  template <typename Inside>
  void under_terms(const std::vector<ExprPtr>& terms, const Inside& inside) {
    const std::size_t depth = around_.size();
    for (const ExprPtr& term : terms) {
      Surrounding surrounding;
      surrounding.condition = term;
      around_.push_back(std::move(surrounding));
    }
    inside();
    around_.resize(depth);
  }

  void visit(const Conditional& expr) override {
    go(expr.condition);
    under_terms(conjuncts(expr.condition), [&] { go(expr.then); });
    under_terms({negate(expr.condition)}, [&] { go(expr.otherwise); });
  }

  void visit(const Binary& expr) override {
    go(expr.left);
    if (expr.op == BinaryOperator::logical_and) {
      under_terms(conjuncts(expr.left), [&] { go(expr.right); });
    } else if (expr.op == BinaryOperator::logical_or) {
      under_terms({negate(expr.left)}, [&] { go(expr.right); });
    } else {
      go(expr.right);
    }
  }

  void visit(const Assignment& stmt) override {
    const auto* target = as<Subscript>(stmt.target);
    if (target != nullptr && is_element(*target)) {
      note(*target, true, stmt.op != AssignmentOperator::assign);
      go(target->index);
    } else {
      go(stmt.target);
    }
    go(stmt.value);
  }

  void visit(const Call& expr) override {
    for_each_passed_place(expr, [&](const Expr& place) { note_strange(place); });
    Visitor::visit(expr);
  }

  void visit(const Unary& expr) override {
    for_each_passed_place(expr, [&](const Expr& place) { note_strange(place); });
    Visitor::visit(expr);
  }

  void visit(const Subscript& expr) override {
    if (!is_element(expr)) {
      Visitor::visit(expr);
      return;
    }
    note(expr, false, true);
    go(expr.index);
  }

  void visit(const VariableReference& expr) override {
    if (analysis_.is_global_pointer(expr.name)) found.strange.insert(expr.name);
  }

  void note_strange(const Expr& place) {
    if (const VariableReference* base = place_variable(place)) found.strange.insert(base->name);
  }

  bool is_element(const Subscript& access) const {
    const auto* base = as<VariableReference>(access.base);
    return base != nullptr && analysis_.is_global_pointer(base->name);
  }

  void note(const Subscript& access, bool stores, bool loads) {
    PlacedAccess placed;
    placed.access = &access;
    placed.stmt = stmt_;
    placed.buffer = to<VariableReference>(access.base).name;
    placed.index = analysis_.polynomial(access.index);
    placed.is_wide = access.index->type && size_in_bytes(*access.index->type) == 8;
    placed.stores = stores;
    placed.loads = loads;
    placed.around = around_;
    found.accesses.push_back(std::move(placed));
  }

  const Analysis& analysis_;
  const Stmt* stmt_ = nullptr;
  std::vector<Surrounding> around_;
};

}  // namespace

PlacedAccesses placed_accesses(const StmtPtr& stmt, const Analysis& analysis) {
  Placer placer(analysis);
  placer.walk(stmt);
  return std::move(placer.found);
}

}  // namespace regraph::affine
