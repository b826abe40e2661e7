#include "rewrite/analysis/loop_surroundings.h"

#include "source/counted_loop.h"
#include "source/known_functions.h"
#include "source/match.h"
#include "source/visitor.h"
#include "source/walk.h"

#include <cstdint>

namespace regraph::rewrite {

namespace {

class OutsideScan final : public Visitor {
 public:
  OutsideScan(const Analysis& analysis, const ForLoop& loop, const IterationEffects& effects,
              bool short_loops)
      : analysis_(analysis), loop_(loop), effects_(effects), short_loops_(short_loops) {}

  std::optional<std::string> obstacle;

 private:
  void visit(const ForLoop& stmt) override {
    if (&stmt == &loop_) {
      walk_own_expressions(stmt, [&](const Expr& expr) { note(expr); });
      return;
    }
    note_loop(stmt);
    Visitor::visit(stmt);
  }
  void visit(const WhileLoop& stmt) override {
    note_loop(stmt);
    Visitor::visit(stmt);
  }
  void visit(const Assignment& stmt) override {
    const auto* base = place_variable(*stmt.target);
    if (base == nullptr || analysis_.is_global_pointer(base->name) || is_pointer(base->name))
      obstruct(stmt, "what a thread writes besides would be written by several");
    Visitor::visit(stmt);
  }
  void visit(const source::Evaluation& stmt) override {
    obstruct(stmt, "'" + stmt.call().function + "' would be called by several threads");
  }
  void visit(const Call& expr) override {
    if (!is_pure(expr) && !reads_through_argument(expr.function) && !obstacle)
      obstacle = "'" + expr.function + "' would be called by several threads";
    Visitor::visit(expr);
  }
  void visit(const Subscript& expr) override {
    note(expr);
    Visitor::visit(expr);
  }
  void visit(const VariableReference& expr) override { note(expr); }

  void note(const Expr& expr) {
    const auto* variable = as<VariableReference>(expr);
    if (variable != nullptr && effects_.written.contains(variable->name) && !obstacle)
      obstacle = "'" + variable->name + "' is used outside of the loop as well";
  }

  // Work that one thread did once would be done for every iteration.
  void note_loop(const Stmt& stmt) {
    const bool is_around =
        any_statement(body_of(stmt), [&](const Stmt& inner) { return &inner == &loop_; });
    if (!is_around && !(short_loops_ && is_short(stmt)))
      obstruct(stmt, "every thread that takes an iteration would run this loop as well");
  }

  static bool is_short(const Stmt& stmt) {
    constexpr std::int64_t kFewIterations = 8;
    const auto* loop = as<ForLoop>(stmt);
    const auto counted = loop != nullptr ? counted_loop_of(*loop) : std::nullopt;
    const auto trips = counted ? counted->trip_count() : std::nullopt;
    return trips && *trips <= kFewIterations;
  }

  bool is_pointer(const std::string& name) const {
    const Variable* local = analysis_.local(name);
    return local != nullptr && local->is_pointer;
  }

  void obstruct(const Stmt& stmt, const std::string& why) {
    if (!obstacle)
      obstacle = (stmt.line > 0 ? "in line " + std::to_string(stmt.line) + " " : "") + why;
  }

  const Analysis& analysis_;
  const ForLoop& loop_;
  const IterationEffects& effects_;
  const bool short_loops_;
};

}  // namespace

std::optional<std::string> obstacle_around(const ForLoop& loop, const Kernel& kernel,
                                           const Analysis& analysis,
                                           const IterationEffects& effects, bool short_loops) {
  OutsideScan outside(analysis, loop, effects, short_loops);
  outside.go(kernel.body);
  return outside.obstacle;
}

}  // namespace regraph::rewrite
