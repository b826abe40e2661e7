#include "rewrite/forms/single_assignment.h"

#include "affine/index_range.h"
#include "rewrite/forms/names.h"
#include "rewrite/forms/unused_names.h"
#include "source/build.h"
#include "source/known_functions.h"
#include "source/match.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

namespace regraph::rewrite {

namespace {

bool is_arithmetic(const ExprPtr& value) {
  return all_expressions(value, [&](const Expr& node) {
    const auto* call = as<Call>(node);
    return !is<Subscript>(node) && (call == nullptr || is_pure(*call)) &&
           !is<OpaqueExpression>(node) && !is<InitializerList>(node);
  });
}

// What changes integers, by name.
struct Changes {
  int declared = 0;
  int assigned = 0;          // in the whole kernel
  bool is_followed = false;  // some change follows the value before
  bool is_strange = false;   // changed by something else than arithmetic, or given away
};

void note_names(const Expr& place, std::map<std::string, Changes>& changes) {
  if (const auto* variable = as<VariableReference>(place))
    changes[variable->name].is_strange = true;
  for_each_operand(place, [&](const ExprPtr& operand) {
    if (operand) note_names(*operand, changes);
  });
}

std::map<std::string, Changes> find_changes(const Block& body) {
  std::map<std::string, Changes> changes;
  walk(body, [&](const Stmt& stmt) {
    if (const auto* declaration = as<Declaration>(stmt))
      ++changes[declaration->variable.name].declared;
    if (const auto* assignment = as<Assignment>(stmt)) {
      const auto* target = as<VariableReference>(assignment->target);
      if (target != nullptr) {
        Changes& own = changes[target->name];
        ++own.assigned;
        own.is_followed = own.is_followed || assignment->op != AssignmentOperator::assign ||
                          variables_of(assignment->value).contains(target->name);
        own.is_strange = own.is_strange || !is_arithmetic(assignment->value);
      } else {
        const auto* base = place_variable(*assignment->target);
        if (base != nullptr) changes[base->name].is_strange = true;
      }
    }
    walk_own_expressions(stmt, [&](const Expr& expr) {
      for_each_passed_place(expr, [&](const Expr& place) { note_names(place, changes); });
    });
  });
  return changes;
}

class ValueNamer final : public Mutator {
 public:
  explicit ValueNamer(const Kernel& kernel)
      : changes_(find_changes(kernel.body)), names_(kernel, "_") {}

  // Values that have names now, and may be of no use.
  [[nodiscard]] const std::set<std::string>& made() const { return made_; }

  using Mutator::run;
  [[nodiscard]] Block run(const Block& block) override {
    std::set<std::string> own;
    for (const StmtPtr& stmt : block) {
      if (const auto* declaration = as<Declaration>(stmt);
          declaration != nullptr && is_straight(*declaration, block)) {
        own.insert(declaration->variable.name);
        variables_[declaration->variable.name] = declaration->variable;
      }
    }
    straight_.merge(own);
    return Mutator::run(block);
  }

 private:
  using Mutator::mutate;

  bool is_straight(const Declaration& declaration, const Block& block) const {
    const Variable& variable = declaration.variable;
    const auto found = changes_.find(variable.name);
    if (found == changes_.end() || variable.is_pointer || !variable.extents.empty() ||
        variable.storage != Storage::automatic || !is_index_type(variable.scalar) ||
        !declaration.value || variable.type.find("volatile") != std::string::npos) {
      return false;
    }
    const Changes& changes = found->second;
    int here = 0;
    for (const StmtPtr& stmt : block)
      here += target_of(*stmt) && is_named(target_of(*stmt), variable.name) ? 1 : 0;
    return changes.declared == 1 && changes.is_followed && !changes.is_strange &&
           changes.assigned == here;
  }

  void append(const StmtPtr& stmt, Block& out) override {
    const auto* assignment = as<Assignment>(stmt);
    const auto* target =
        assignment != nullptr ? as<VariableReference>(assignment->target) : nullptr;
    if (target == nullptr || !straight_.contains(target->name)) {
      out.push_back(run(stmt));
      return;
    }
    const std::string name = target->name;
    const ExprPtr before = run(assignment->target);
    ExprPtr value = run(assignment->value);
    if (const auto op = operation_of(assignment->op)) value = binary(*op, before, std::move(value));
    Variable variable = variables_.at(name);
    variable.is_const = true;
    variable.name = names_.fresh(name);
    now_[name] = variable.name;
    made_.insert(variable.name);
    made_.insert(name);
    auto declaration = std::make_shared<Declaration>(std::move(variable), std::move(value));
    declaration->line = stmt->line;
    out.push_back(std::move(declaration));
  }

  ExprPtr mutate(const ExprPtr& expr, const VariableReference& variable) override {
    const auto found = now_.find(variable.name);
    return found != now_.end() ? source::variable(found->second, variable.type) : expr;
  }

  const std::map<std::string, Changes> changes_;
  Names names_;
  std::set<std::string> straight_;
  std::map<std::string, Variable> variables_;
  std::set<std::string> made_;
  std::map<std::string, std::string> now_;  // the name of what the variable holds
};

}  // namespace

Block with_single_assignments(const Kernel& kernel) {
  ValueNamer namer(kernel);
  Block body = namer.run(kernel.body);
  if (namer.made().empty()) return kernel.body;
  return without_unused(std::move(body), [&](const Declaration& value) {
    return namer.made().contains(value.variable.name) && is_arithmetic(value.value);
  });
}

}  // namespace regraph::rewrite
