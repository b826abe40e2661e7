#include "rewrite/forms/straight_updates.h"

#include "source/build.h"
#include "source/known_functions.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace regraph::rewrite {

using source::as;
using source::Assignment;
using source::AssignmentOperator;
using source::Block;
using source::Declaration;
using source::ExprPtr;
using source::StmtPtr;
using source::VariableReference;

namespace {

bool is_counting_type(const std::optional<ScalarType>& type) {
  return type == ScalarType::i32 || type == ScalarType::u32 || type == ScalarType::i64 ||
         type == ScalarType::u64;
}

class UpdateNamer final : public source::Mutator {
 public:
  explicit UpdateNamer(const source::Kernel& kernel) : taken_(source::used_names(kernel)) {
    source::walk(kernel.body, [&](const source::Stmt& stmt) {
      const auto* declaration = as<Declaration>(stmt);
      if (declaration != nullptr) ++declarations_[declaration->variable.name];
      const auto* place = target_of(stmt) ? source::place_variable(*target_of(stmt)) : nullptr;
      if (place != nullptr) ++changes_[place->name];
      source::walk_own_expressions(stmt, [&](const source::Expr& expr) {
        source::for_each_passed_place(expr, [&](const source::Expr& given) {
          const auto* passed = source::place_variable(given);
          if (passed != nullptr) given_.insert(passed->name);
        });
        // A function that is not known may take a reference.
        const auto* call = as<source::Call>(expr);
        if (call == nullptr || source::is_pure(*call)) return;
        for (const ExprPtr& argument : call->arguments) {
          const auto* variable = as<VariableReference>(argument);
          if (variable != nullptr) given_.insert(variable->name);
        }
      });
    });
  }

  Block run(const Block& block) override {
    Block inner = source::Mutator::run(block);
    for (std::size_t at = 0; at < inner.size(); ++at) {
      const auto* declaration = as<Declaration>(inner[at]);
      if (declaration != nullptr && is_straight(*declaration, inner, at))
        name_updates(declaration->variable, inner, at);
    }
    return inner;
  }
  using source::Mutator::run;

 private:
  // What the statement makes of the variable; null where it is no update of it.
  static ExprPtr updated(const StmtPtr& stmt, const std::string& name) {
    const auto* assignment = as<Assignment>(stmt);
    const auto* target =
        assignment != nullptr ? as<VariableReference>(assignment->target) : nullptr;
    if (target == nullptr || target->name != name) return nullptr;
    if (assignment->op == AssignmentOperator::assign) return assignment->value;
    const auto operation = source::operation_of(assignment->op);
    if (!operation || assignment->value->type != target->type) return nullptr;
    return source::with_type(source::binary(*operation, assignment->target, assignment->value),
                             target->type);
  }

  // Whether all that changes the variable stands in the block, behind its declaration.
  bool is_straight(const Declaration& declaration, const Block& block, std::size_t position) const {
    const source::Variable& variable = declaration.variable;
    const auto changes = changes_.find(variable.name);
    if (!declaration.value || !is_counting_type(variable.scalar) || !variable.extents.empty() ||
        variable.is_pointer || variable.storage != source::Storage::automatic ||
        variable.type.find("volatile") != std::string::npos || changes == changes_.end() ||
        declarations_.at(variable.name) != 1 || given_.contains(variable.name)) {
      return false;
    }
    int here = 0;
    for (std::size_t at = position + 1; at < block.size(); ++at)
      here += updated(block[at], variable.name) ? 1 : 0;
    return here == changes->second;
  }

  void name_updates(const source::Variable& variable, Block& block, std::size_t position) {
    std::string name = variable.name;
    for (std::size_t at = position + 1; at < block.size(); ++at) {
      const ExprPtr value = updated(block[at], variable.name);
      const auto rename =
          source::replace_variable(variable.name, source::variable(name, variable.scalar));
      if (!value) {
        block[at] = source::rewrite_expressions({block[at]}, rename).front();
        continue;
      }
      source::Variable next = variable;
      next.name = fresh(variable.name);
      next.is_const = true;
      auto declared = std::make_shared<Declaration>(next, source::rewrite_expr(value, rename));
      declared->line = block[at]->line;
      block[at] = std::move(declared);
      name = next.name;
    }
  }

  std::string fresh(const std::string& stem) {
    for (int number = 2;; ++number) {
      std::string name = stem + "_" + std::to_string(number);
      if (taken_.insert(name).second) return name;
    }
  }

  std::set<std::string> taken_;
  std::map<std::string, int> declarations_;
  std::map<std::string, int> changes_;
  std::set<std::string> given_;
};

}  // namespace

Block with_straight_updates(const source::Kernel& kernel) {
  return UpdateNamer(kernel).run(kernel.body);
}

}  // namespace regraph::rewrite
