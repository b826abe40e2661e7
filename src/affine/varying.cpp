#include "affine/varying.h"

#include "source/match.h"
#include "source/visitor.h"
#include "source/walk.h"

#include <utility>

namespace regraph::affine {

bool is_varying(const ExprPtr& expr, const std::string& builtin,
                const std::set<std::string>& varying) {
  return any_expression(expr, [&](const Expr& node) {
    const auto* variable = as<VariableReference>(node);
    return is_builtin(node, builtin) || (variable != nullptr && varying.contains(variable->name));
  });
}

namespace {

// Finds the names in passes over the kernel until no new one turns up.
class Spreader final : public Visitor {
 public:
  Spreader(const std::string& builtin, std::set<std::string> known,
           const std::set<std::string>& common)
      : builtin_(builtin), common_(common), varying_(std::move(known)) {}

  std::set<std::string> run(const Block& block) {
    do {
      changed_ = false;
      go(block);
    } while (changed_);
    return std::move(varying_);
  }

 private:
  bool varies(const ExprPtr& expr) const { return is_varying(expr, builtin_, varying_); }

  void mark(const std::string& name) {
    if (!common_.contains(name)) changed_ = varying_.insert(name).second || changed_;
  }

  // Visits the block as one that is executed depending on the builtin, or like the code around it.
  void go_under(bool control, const Block& block) {
    const bool outer = under_varying_;
    under_varying_ = outer || control;
    go(block);
    under_varying_ = outer;
  }

  void visit(const Declaration& stmt) override {
    if (stmt.value && (under_varying_ || varies(stmt.value))) mark(stmt.variable.name);
  }

  void visit(const Assignment& stmt) override {
    if (!under_varying_ && !varies(stmt.value) && !varies(stmt.target)) return;
    if (const auto* base = base_variable(*stmt.target)) {
      mark(base->name);
      return;
    }
    for (const std::string& name : variables_of(stmt.target))
      mark(name);
  }

  // An atomic or a call changes what its pointer arguments name, every time it is executed: even
  // with uniform arguments each copy must see its own executions only.
  void visit(const Evaluation& stmt) override {
    walk(stmt.value, [&](const Expr& node) {
      for_each_passed_place(node, [&](const Expr& place) {
        if (const auto* base = base_variable(place)) mark(base->name);
      });
    });
  }

  void visit(const ForLoop& stmt) override {
    bool control = varies(stmt.condition);
    for_each_header(stmt,
                    [&](const StmtPtr& part) { control = control || varies(value_of(*part)); });
    const auto* counter = stmt.init ? as<VariableReference>(target_of(*stmt.init)) : nullptr;
    if (control || under_varying_) {
      if (stmt.declaration() != nullptr) mark(stmt.declaration()->variable.name);
      if (counter != nullptr) mark(counter->name);
    }
    go_under(control || may_be_left(stmt.body), stmt.body);
  }

  void visit(const WhileLoop& stmt) override {
    go_under(varies(stmt.condition) || may_be_left(stmt.body), stmt.body);
  }

  // Whether a jump that follows the builtin decides how often, and which of, the statements are
  // executed.
  bool may_be_left(const Block& body) const {
    bool found = false;
    walk(body, [&](const Stmt& stmt) {
      const auto* branch = as<Branch>(stmt);
      if (found || branch == nullptr || !varies(branch->condition)) return;
      for (const Block* block : {&branch->body, &branch->otherwise}) {
        walk(*block,
             [&](const Stmt& inner) { found = found || is<Jump>(inner) || is<Return>(inner); });
      }
    });
    return found;
  }

  void visit(const Branch& stmt) override {
    const bool control = varies(stmt.condition);
    go_under(control, stmt.body);
    go_under(control, stmt.otherwise);
  }

  const std::string& builtin_;
  const std::set<std::string>& common_;
  std::set<std::string> varying_;
  bool under_varying_ = false;
  bool changed_ = false;
};

}  // namespace

std::set<std::string> varying_names(const Kernel& kernel, const std::string& builtin,
                                    std::set<std::string> known,
                                    const std::set<std::string>& common) {
  return Spreader(builtin, std::move(known), common).run(kernel.body);
}

}  // namespace regraph::affine
