#include "rewrite/forms/web_candidates.h"

#include "source/build.h"
#include "source/known_functions.h"
#include "source/match.h"
#include "source/visitor.h"
#include "source/walk.h"

#include <set>

namespace regraph::rewrite {

using source::as;
using source::Assignment;
using source::AssignmentOperator;
using source::Block;
using source::Call;
using source::Declaration;
using source::Expr;
using source::ExprPtr;
using source::ForLoop;
using source::is;
using source::is_named;
using source::Stmt;
using source::Variable;
using source::VariableReference;

namespace {

bool mentions(const ExprPtr& expr, const std::string& name) {
  bool found = false;
  source::walk(expr, [&](const Expr& node) { found = found || is_named(node, name); });
  return found;
}

}  // namespace

const std::string* defined_by(const Stmt& stmt) {
  if (const auto* declaration = as<Declaration>(stmt))
    return declaration->value ? &declaration->variable.name : nullptr;
  const auto* assignment = as<Assignment>(stmt);
  if (assignment == nullptr || assignment->op != AssignmentOperator::assign) return nullptr;
  const auto* target = as<VariableReference>(assignment->target);
  if (target == nullptr || mentions(assignment->value, target->name)) return nullptr;
  return &target->name;
}

const std::string* counter_of(const Stmt& stmt) {
  const auto* loop = as<ForLoop>(stmt);
  const bool assigns = loop != nullptr && is<Assignment>(loop->init);
  return assigns ? defined_by(*loop->init) : nullptr;
}

namespace {

class CandidateFinder final : public source::Visitor {
 public:
  std::map<std::string, Variable> find(const Block& body) {
    go(body);
    std::map<std::string, Variable> result;
    for (auto& [name, variable] : declared_) {
      if (wanted_.contains(name) && !unfit_.contains(name)) result.emplace(name, variable);
    }
    return result;
  }

 private:
  void visit(const Declaration& stmt) override {
    const Variable& variable = stmt.variable;
    const bool fits = variable.extents.empty() && variable.storage == source::Storage::automatic &&
                      (variable.scalar || source::zero_value(variable.type, std::nullopt)) &&
                      variable.type.find("volatile") == std::string::npos;
    if (!fits) unfit_.insert(variable.name);
    const auto [entry, is_new] = declared_.emplace(variable.name, variable);
    if (!is_new && entry->second.type != variable.type) unfit_.insert(variable.name);
    if (!stmt.value) wanted_.insert(variable.name);
    Visitor::visit(stmt);
  }
  void visit(const Assignment& stmt) override {
    if (const std::string* name = defined_by(stmt)) wanted_.insert(*name);
    Visitor::visit(stmt);
  }
  void visit(const ForLoop& stmt) override {
    const auto* counter =
        !stmt.init && stmt.step ? as<VariableReference>(target_of(*stmt.step)) : nullptr;
    if (counter != nullptr) wanted_.insert(counter->name);
    Visitor::visit(stmt);
  }
  void visit(const source::Unary& expr) override {
    const ExprPtr place = source::addressed(expr);
    if (const auto* base = place ? source::base_variable(*place) : nullptr)
      unfit_.insert(base->name);
    if (place && source::base_variable(*place) == nullptr) {
      for (const std::string& name : source::variables_of(place))
        unfit_.insert(name);
    }
    Visitor::visit(expr);
  }
  void visit(const Call& expr) override {
    // An unknown function may take a reference.
    const bool known = source::is_pure_function(expr.function) ||
                       source::is_warp_intrinsic(expr.function) || source::is_atomic(expr.function);
    for (const ExprPtr& argument : expr.arguments) {
      const auto* variable = as<VariableReference>(argument);
      if (!known && variable != nullptr) unfit_.insert(variable->name);
    }
    Visitor::visit(expr);
  }

  std::map<std::string, Variable> declared_;
  std::set<std::string> wanted_;
  std::set<std::string> unfit_;
};

}  // namespace

std::map<std::string, Variable> web_candidates(const Block& body) {
  return CandidateFinder().find(body);
}

bool is_droppable(const ExprPtr& value) {
  bool droppable = true;
  source::walk(value, [&](const Expr& node) {
    const auto* call = as<Call>(node);
    droppable = droppable && (call == nullptr || source::is_pure_function(call->function));
  });
  return droppable;
}

}  // namespace regraph::rewrite
