#include "rewrite/forms/if_conversion.h"

#include "rewrite/forms/names.h"
#include "rewrite/forms/uses.h"
#include "source/build.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace regraph::rewrite {

namespace {

class Selector final : public Mutator {
 public:
  explicit Selector(const Kernel& kernel) : kernel_(kernel) {}

 private:
  using Mutator::mutate;

  void append(const StmtPtr& stmt, Block& out) override {
    const StmtPtr rebuilt = run(stmt);
    const auto* branch = as<Branch>(rebuilt);
    if (StmtPtr limited = branch != nullptr ? with_limit(*branch, out) : nullptr) {
      out.push_back(std::move(limited));
      return;
    }
    if (branch == nullptr || branch->body.empty() || branch->otherwise.empty()) {
      out.push_back(rebuilt);
      return;
    }
    const auto* yes = as<Assignment>(branch->body.back());
    const auto* no = as<Assignment>(branch->otherwise.back());
    if (yes == nullptr || no == nullptr || yes->op != no->op || !equal(yes->target, no->target)) {
      out.push_back(rebuilt);
      return;
    }
    const bool is_choice = branch->body.size() == 1 && branch->otherwise.size() == 1;
    if (const ExprPtr value = is_choice ? selected(branch->condition, *yes, *no) : nullptr) {
      auto result = std::make_shared<Assignment>(yes->target, yes->op, value);
      result->line = stmt->line;
      out.push_back(std::move(result));
    } else if (can_store_afterwards(*branch, *yes)) {
      store_afterwards(*branch, *yes, *no, out);
    } else {
      out.push_back(rebuilt);
    }
  }

  // `if (x > y) x = y;` and the like, of an integer that the same block declares. What comes into
  // the block from outside may be what a loop accumulates, and stays as it is.
  static StmtPtr with_limit(const Branch& branch, Block& block) {
    const auto* order = as<Binary>(branch.condition);
    const auto* assignment =
        branch.body.size() == 1 ? as<Assignment>(branch.body.front()) : nullptr;
    const auto* target =
        assignment != nullptr ? as<VariableReference>(assignment->target) : nullptr;
    const bool is_order =
        order != nullptr &&
        (order->op == BinaryOperator::less || order->op == BinaryOperator::less_equal ||
         order->op == BinaryOperator::greater || order->op == BinaryOperator::greater_equal);
    if (!is_order || target == nullptr || !branch.otherwise.empty() ||
        assignment->op != AssignmentOperator::assign) {
      return nullptr;
    }
    const ExprPtr& limit = assignment->value;
    const bool is_limit = (equal(order->left, assignment->target) && equal(order->right, limit)) ||
                          (equal(order->right, assignment->target) && equal(order->left, limit));
    if (!is_limit || !target->type || is_floating(*target->type) || limit->type != target->type ||
        !is_kept(limit, {})) {
      return nullptr;
    }
    return with_value_limited(*assignment, branch, block);
  }

  // The value that the end of the block gives the variable, within the limit; it goes from there.
  static StmtPtr with_value_limited(const Assignment& limit, const Branch& branch, Block& block) {
    const std::string& name = to<VariableReference>(limit.target).name;
    std::set<std::string> changed;
    for (std::size_t at = block.size(); at-- > 0;) {
      const auto* declaration = as<Declaration>(block[at]);
      const auto* assignment = as<Assignment>(block[at]);
      const auto* place =
          assignment != nullptr ? as<VariableReference>(assignment->target) : nullptr;
      if (declaration == nullptr && place == nullptr) return nullptr;
      const std::string& defined = place != nullptr ? place->name : declaration->variable.name;
      const ExprPtr value = value_of(*block[at]);
      if (defined != name) {
        if (value && (variables_of(value).contains(name) || !is_computation(value))) return nullptr;
        changed.insert(defined);
        continue;
      }
      const bool sets =
          value && (declaration != nullptr || assignment->op == AssignmentOperator::assign);
      if (!sets || value->type != limit.target->type || !is_kept(value, {}) ||
          !declares(block, name)) {
        return nullptr;
      }
      for (const std::string& used : variables_of(value)) {
        if (used == name || changed.contains(used)) return nullptr;
      }
      const auto with_value = replace_variable(name, value);
      const ExprPtr limited =
          conditional(rewrite_expr(branch.condition, with_value), limit.value, value);
      StmtPtr result;
      if (declaration != nullptr) {
        result = declare(declaration->variable, with_type(limited, value->type));
      } else {
        result = source::assign(limit.target, with_type(limited, value->type));
      }
      block.erase(block.begin() + static_cast<std::ptrdiff_t>(at));
      return result;
    }
    return nullptr;
  }

  static bool declares(const Block& block, const std::string& name) {
    return std::any_of(block.begin(), block.end(), [&](const StmtPtr& stmt) {
      const auto* declaration = as<Declaration>(stmt);
      return declaration != nullptr && declaration->variable.name == name &&
             declaration->variable.extents.empty() &&
             declaration->variable.storage == Storage::automatic;
    });
  }

  // Whether the place is an element that can be named behind the branch.
  static bool can_store_afterwards(const Branch& branch, const Assignment& store) {
    const auto* target = as<Subscript>(store.target);
    if (target == nullptr || store.op != AssignmentOperator::assign || !target->type ||
        !is<VariableReference>(target->base) || !is_computation(store.target)) {
      return false;
    }
    const std::set<std::string> used = variables_of(store.target);
    for (const Block* side : {&branch.body, &branch.otherwise}) {
      for (const std::string& name : declared_names(*side)) {
        if (used.contains(name)) return false;
      }
      const bool is_straight = all_statements(*side, [&](const Stmt& inner) {
        return is<Declaration>(inner) || is<Assignment>(inner) || is<Branch>(inner);
      });
      if (!is_straight) return false;
    }
    return true;
  }

  void store_afterwards(const Branch& branch, const Assignment& yes, const Assignment& no,
                        Block& out) {
    const ScalarType type = *yes.target->type;
    const Variable value = local_variable(next_name(base_variable(*yes.target)->name),
                                          std::string(cuda_name(type)), type);
    const ExprPtr reference = variable(value.name, type);
    const auto side = [&](Block block, const ExprPtr& assigned) {
      block.back() = source::assign(reference, assigned);
      return block;
    };
    out.push_back(declare(value, nullptr));
    out.push_back(source::branch(branch.condition, side(branch.body, yes.value),
                                 side(branch.otherwise, no.value), branch.line));
    out.push_back(source::assign(yes.target, reference));
  }

  std::string next_name(const std::string& array) {
    if (!names_) names_.emplace(kernel_, "_");
    return names_->fresh(array + "_value");
  }

  // Null where an expression could not stand for the branch.
  static ExprPtr selected(const ExprPtr& condition, const Assignment& yes, const Assignment& no) {
    if (!is_computation(yes.target) || !is_computation(yes.value) || !is_computation(no.value))
      return nullptr;
    if (!yes.value->type || !no.value->type) return nullptr;
    if (yes.value->type == no.value->type) return conditional(condition, yes.value, no.value);
    // The common type of the two may be another than the place's, and round differently.
    const auto& type = yes.target->type;
    if (yes.op != AssignmentOperator::assign || !type || *type == ScalarType::f16 ||
        *type == ScalarType::bf16) {
      return nullptr;
    }
    return conditional(condition, converted(yes.value, *type), converted(no.value, *type));
  }

  static ExprPtr converted(const ExprPtr& value, ScalarType type) {
    return value->type == type ? value : cast(std::string(cuda_name(type)), value);
  }

  const Kernel& kernel_;
  std::optional<Names> names_;  // found out when it is asked for
};

}  // namespace

Block if_converted(const Kernel& kernel) {
  return Selector(kernel).run(kernel.body);
}

}  // namespace regraph::rewrite
