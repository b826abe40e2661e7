#include "rewrite/transform/disaggregated_atomics.h"

#include "rewrite/analysis/first_thread.h"
#include "rewrite/analysis/reduction_tree.h"
#include "rewrite/forms/names.h"
#include "rewrite/forms/uses.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace regraph::rewrite {

namespace {

constexpr const char* kPlaceInBlock = "threadIdx.x";

// The call where the statement is an atomic addition without a result, null for others.
const Call* addition(const Stmt& stmt) {
  const auto* evaluation = as<source::Evaluation>(stmt);
  if (evaluation == nullptr) return nullptr;
  const Call& call = evaluation->call();
  return call.function == "atomicAdd" && call.arguments.size() == 2 ? &call : nullptr;
}

// The type of what the atomic adds to; nothing where that is not known.
std::optional<ScalarType> type_of_target(const ExprPtr& target, const Kernel& kernel) {
  std::optional<ScalarType> result;
  walk(target, [&](const Expr& expr) {
    const auto* variable = as<VariableReference>(expr);
    const KernelParameter* parameter =
        variable != nullptr ? kernel.parameter(variable->name) : nullptr;
    if (parameter != nullptr && parameter->is_pointer) result = parameter->scalar;
  });
  return result;
}

// Trees whose result thread 0 adds somewhere.
class TreeTaker {
 public:
  TreeTaker(const Kernel& kernel, const Analysis& analysis, const Dim3& block)
      : kernel_(kernel), analysis_(analysis), block_(block) {}

  std::optional<Block> run() {
    if (analysis_.uses_warp_intrinsics()) return std::nullopt;
    for (std::size_t at = 0; at < kernel_.body.size(); ++at) {
      if (!is<ForLoop>(*kernel_.body[at])) continue;
      auto tree = match_reduction_tree(kernel_.body, analysis_, at, block_);
      if (tree) return without(*tree, at);
    }
    return std::nullopt;
  }

 private:
  std::optional<Block> without(const ReductionTree& tree, std::size_t at) const {
    if (tree.sum.kind != Reduction::Kind::compound || tree.sum.op != AssignmentOperator::add)
      return std::nullopt;
    const Call* total = total_after(tree, at);
    if (total == nullptr || !is_alone(tree, at)) return std::nullopt;
    if (type_of_target(total->arguments[0], kernel_) != tree.sum.scalar) return std::nullopt;
    Names names(kernel_);
    const std::string own = names.fresh("mine");
    Block body(kernel_.body.begin(), kernel_.body.begin() + static_cast<std::ptrdiff_t>(at));
    body = rewrite_statements(body, [&](const StmtPtr& stmt) -> std::optional<Block> {
      const auto* declaration = as<Declaration>(stmt);
      const bool goes = is<Barrier>(*stmt) ||
                        (declaration != nullptr && declaration->variable.name == tree.sum.variable);
      return goes ? std::optional(Block()) : std::nullopt;
    });
    body = rewrite_expressions(body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
      if (!is_of(tree, *expr)) return std::nullopt;
      return source::variable(own, tree.sum.scalar);
    });
    body.insert(body.begin(), declare(local_variable(own, tree.sum.type, tree.sum.scalar),
                                      zero_of(tree.sum.scalar)));
    body.push_back(evaluate(source::call(
        total->function, {total->arguments[0], source::variable(own, tree.sum.scalar)})));
    return body;
  }

  static bool is_of(const ReductionTree& tree, const Expr& expr) {
    const auto* access = as<Subscript>(expr);
    return access != nullptr && is_named(access->base, tree.sum.variable);
  }

  // if (threadIdx.x == 0) atomicAdd(total, slots[0]); and nothing else.
  const Call* total_after(const ReductionTree& tree, std::size_t at) const {
    const auto value_of_side = [&](const ExprPtr& side) { return analysis_.polynomial(side); };
    const Call* total = nullptr;
    for (std::size_t next = at + 1; next < kernel_.body.size(); ++next) {
      const Stmt& stmt = *kernel_.body[next];
      if (is<Barrier>(stmt) || names_slot(tree, stmt)) continue;
      const auto* first = as<Branch>(stmt);
      const bool is_total = total == nullptr && first != nullptr && first->otherwise.empty() &&
                            !first->body.empty() &&
                            is_first_thread(first->condition, value_of_side);
      if (!is_total) return nullptr;
      const bool are_names =
          std::all_of(first->body.begin(), first->body.end() - 1,
                      [&](const StmtPtr& inner) { return names_slot(tree, *inner); });
      total = are_names ? addition(*first->body.back()) : nullptr;
      if (total == nullptr) return nullptr;
    }
    return total != nullptr && is_first_slot(tree, total->arguments[1]) ? total : nullptr;
  }

  // const float sum = slots[0];
  bool names_slot(const ReductionTree& tree, const Stmt& stmt) const {
    const auto* declaration = as<Declaration>(stmt);
    return declaration != nullptr && declaration->value &&
           analysis_.is_single_definition(declaration->variable.name) &&
           declaration->variable.scalar == tree.sum.scalar &&
           is_first_slot(tree, declaration->value);
  }

  bool is_first_slot(const ReductionTree& tree, const ExprPtr& value) const {
    if (const auto* named = as<VariableReference>(value)) {
      const ExprPtr definition = analysis_.definition(named->name);
      return definition && is_first_slot(tree, definition);
    }
    const auto* slot = as<Subscript>(value);
    return slot != nullptr && is_of(tree, *slot) && is_number(slot->index, 0);
  }

  // Whether threads know nothing of each other but what the tree tells: no other shared memory, and
  // a thread's own slot alone before it.
  bool is_alone(const ReductionTree& tree, std::size_t at) const {
    bool result = true;
    int slots = 0;
    const Block before(kernel_.body.begin(),
                       kernel_.body.begin() + static_cast<std::ptrdiff_t>(at));
    walk(before, [&](const Stmt& stmt) {
      const auto* declaration = as<Declaration>(stmt);
      if (declaration != nullptr && declaration->variable.storage != Storage::automatic &&
          declaration->variable.name != tree.sum.variable) {
        result = false;
      }
      walk_own_expressions(stmt, [&](const Expr& expr) {
        if (!is_of(tree, expr)) return;
        const auto& access = static_cast<const Subscript&>(expr);
        const auto place = analysis_.polynomial(access.index);
        result = result && place && *place == Polynomial::symbol(kPlaceInBlock);
        ++slots;
      });
    });
    return result && mentions_of(tree.sum.variable, before) == slots;
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
  const Dim3& block_;
};

// A sum that begins with zero and is added to memory at the end.
class SumOpener {
 public:
  explicit SumOpener(Kernel kernel)
      : kernel_(std::move(kernel)), analysis_(kernel_), body_(kernel_.body) {}

  // The body in which what the sum takes is added to memory at once; nothing where it is no such
  // sum.
  std::optional<Block> run() {
    if (body_.empty()) return std::nullopt;
    const auto* guarded = as<Branch>(*body_.back());
    const bool is_guarded =
        guarded != nullptr && guarded->otherwise.empty() && guarded->body.size() == 1;
    if (is_guarded) guard_ = guarded->condition;
    const Call* total = addition(is_guarded ? *guarded->body.front() : *body_.back());
    const auto* sum = total != nullptr ? as<VariableReference>(total->arguments[1]) : nullptr;
    if (sum == nullptr) return std::nullopt;
    name_ = sum->name;
    target_ = total->arguments[0];
    if (guard_ && !stays_the_same(guard_)) return std::nullopt;
    body_.pop_back();
    if (auto renamed = under_first_name()) return renamed;
    if (!take_declaration()) return std::nullopt;
    Block opened = open(body_, false);
    if (is_used_otherwise_ || is_mentioned(opened, name_)) return std::nullopt;
    if (const auto once = std::move(once_)) opened.push_back(*once);
    return opened;
  }

 private:
  // const float value = sum; atomicAdd(total, value);   ->   atomicAdd(total, sum);
  std::optional<Block> under_first_name() const {
    const auto* last = body_.empty() ? nullptr : as<Declaration>(*body_.back());
    const bool is_copy = last != nullptr && last->variable.name == name_ && last->value &&
                         is<VariableReference>(*last->value);
    if (!is_copy || last->variable.scalar != last->value->type) return std::nullopt;
    Block result(body_.begin(), body_.end() - 1);
    result.push_back(add(last->value));
    return result;
  }

  // Its declaration goes. A value that it has at once is added at the end.
  bool take_declaration() {
    const auto found = std::find_if(body_.begin(), body_.end(), [&](const StmtPtr& stmt) {
      const auto* declaration = as<Declaration>(stmt);
      return declaration != nullptr && declaration->variable.name == name_;
    });
    if (found == body_.end()) return false;
    const auto& declaration = to<Declaration>(*found);
    if (!declaration.variable.extents.empty() || declaration.variable.is_pointer) return false;
    // Parts that are added in another type than the sum has would be other parts.
    scalar_ = declaration.variable.scalar;
    if (!scalar_ || type_of_target(target_, kernel_) != scalar_) return false;
    if (declaration.value && !is_zero(declaration.value)) {
      const auto* choice = as<Conditional>(declaration.value);
      if (choice == nullptr || !is_zero(choice->otherwise) || found + 1 != body_.end())
        return false;
      if (!is_of_sum(choice->then)) return false;
      once_ = branch(choice->condition, {add(choice->then)});
    }
    body_.erase(found);
    return true;
  }

  StmtPtr add(const ExprPtr& value) const {
    // Nothing is nothing to add.
    const auto* choice = as<Conditional>(value);
    if (choice != nullptr && is_zero(choice->otherwise))
      return branch(choice->condition, {add(choice->then)});
    const StmtPtr added = evaluate(source::call("atomicAdd", {target_, value}));
    return guard_ ? branch(guard_, {added}) : added;
  }

  // Whether the atomic adds what the sum would have: nothing is cut to the sum's type after the
  // addition.
  bool is_of_sum(const ExprPtr& value) const {
    return value->type &&
           (value->type == scalar_ || (is_floating(*scalar_) && !is_floating(*value->type)));
  }

  // Whether the guard may be asked earlier: parameters, and what is known before all else.
  bool stays_the_same(const ExprPtr& guard) const {
    bool result = true;
    std::size_t known = 0;
    std::set<std::string> names;
    while (known < body_.size() && is<Declaration>(*body_[known]))
      names.insert(to<Declaration>(body_[known++]).variable.name);
    walk(guard, [&](const Expr& expr) {
      result = result && !is<Subscript>(expr) && !is<Call>(expr);
      const auto* variable = as<VariableReference>(expr);
      if (variable == nullptr) return;
      const KernelParameter* parameter = kernel_.parameter(variable->name);
      result =
          result && (parameter != nullptr ? analysis_.meaning()(variable->name).has_value()
                                          : names.contains(variable->name) &&
                                                analysis_.is_single_definition(variable->name));
    });
    return result;
  }

  Block open(const Block& block, bool is_repeated) {
    Block result;
    for (const StmtPtr& stmt : block) {
      if (const auto* assigned = as<Assignment>(stmt);
          assigned != nullptr && is_named(assigned->target, name_)) {
        result.push_back(opened(*assigned, is_repeated));
        continue;
      }
      if (const auto* choice = as<Branch>(stmt)) {
        Block body = open(choice->body, is_repeated);
        Block otherwise = open(choice->otherwise, is_repeated);
        result.push_back(
            branch(choice->condition, std::move(body), std::move(otherwise), choice->line));
        continue;
      }
      if (const auto* loop = as<ForLoop>(stmt)) {
        auto copy = std::make_shared<ForLoop>(*loop);
        copy->body = open(loop->body, true);
        result.push_back(std::move(copy));
        continue;
      }
      if (is<Scope>(*stmt)) {
        result.push_back(source::scope(open(body_of(*stmt), is_repeated)));
        continue;
      }
      result.push_back(stmt);
    }
    return result;
  }

  // sum += v; sum = sum + v; or sum = v; as long as the sum is zero, which it is once: what a loop
  // sets, it sets again.
  StmtPtr opened(const Assignment& assigned, bool is_repeated) {
    if (const auto added = added_term(assigned);
        added && !added->is_subtracted && is_of_sum(added->term)) {
      is_zero_ = false;
      return add(added->term);
    }
    const bool sets = assigned.op == AssignmentOperator::assign && is_zero_ && !is_repeated;
    if (sets && is_zero(assigned.value)) return source::scope({});
    if (sets && is_of_sum(assigned.value)) {
      is_zero_ = false;
      return add(assigned.value);
    }
    is_used_otherwise_ = true;
    return source::scope({});
  }

  const Kernel kernel_;
  const Analysis analysis_;
  Block body_;
  ExprPtr guard_;  // around the addition, or null
  std::string name_;
  std::optional<ScalarType> scalar_;
  ExprPtr target_;
  std::optional<StmtPtr> once_;
  bool is_zero_ = true;
  bool is_used_otherwise_ = false;
};

}  // namespace

std::optional<Block> with_disaggregated_atomics(const KernelAnalysis& kernel) {
  const auto form = kernel.single_exit();
  const auto launch = kernel.launch();
  if (!form || !launch) return std::nullopt;
  std::optional<Block> result;
  Kernel opened = (*form)->kernel;
  if (auto alone = TreeTaker((*form)->kernel, (*form)->analysis, (*launch)->block).run()) {
    opened.body = *alone;
    result = std::move(alone);
  }
  while (auto body = SumOpener(opened).run()) {
    opened.body = *body;
    result = std::move(body);
  }
  if (!result) return result;
  // Empty scopes are what is left of zeros.
  return rewrite_statements(*result, [](const StmtPtr& stmt) -> std::optional<Block> {
    const auto* scope = as<Scope>(stmt);
    return scope != nullptr && scope->body.empty() ? std::optional(Block()) : std::nullopt;
  });
}

}  // namespace regraph::rewrite
