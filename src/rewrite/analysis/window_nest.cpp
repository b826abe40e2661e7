#include "rewrite/analysis/window_nest.h"

#include "rewrite/analysis/guarded_liveness.h"
#include "rewrite/analysis/loop_choice.h"
#include "rewrite/forms/kernel_state.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <utility>

namespace regraph::rewrite {

const WindowLoop* WindowNest::strip() const {
  return loops.empty() || loops.front().trips ? nullptr : &loops.front();
}

bool WindowNest::adds_over(const std::string& counter) const {
  return std::any_of(loops.begin(), loops.end(), [&](const WindowLoop& loop) {
    return !loop.is_copy && loop.counted.name == counter;
  });
}

std::vector<ExprPtr> factors_of(const ExprPtr& value) {
  const auto* product = as_binary(value, BinaryOperator::multiply);
  if (product == nullptr) return {value};
  std::vector<ExprPtr> result = factors_of(product->left);
  const std::vector<ExprPtr> right = factors_of(product->right);
  result.insert(result.end(), right.begin(), right.end());
  return result;
}

ExprPtr added_by(const WindowUpdate& update) {
  const auto added = added_term(update.target, update.op, update.value);
  return added ? added->term : nullptr;
}

namespace {

class NestFinder {
 public:
  NestFinder(const Kernel& kernel, const Analysis& analysis, WindowLengths lengths)
      : kernel_(kernel), analysis_(analysis), lengths_(lengths) {}

  Result<WindowNest> find(std::size_t position) {
    nest_.position = position;
    if (Status status = enter(kernel_.body[position]); !status) return status.error();
    if (nest_.updates.empty()) return refuse("its loops add nothing up");
    if (Status status = classify_loops(); !status) return status.error();
    if (Status status = check_updates(); !status) return status.error();
    return std::move(nest_);
  }

 private:
  Status enter(const StmtPtr& stmt) {
    const auto* loop = as<ForLoop>(stmt);
    const auto counted = counted_loop_of(*stmt);
    if (loop == nullptr || !counted || counted->stride != 1)
      return refuse("a loop does not count up by one");
    if (lengths_ == WindowLengths::any) {
      nest_.loops.push_back({loop, *counted, std::nullopt, false});
      return descend(loop->body);
    }
    const auto first = analysis_.polynomial(counted->first);
    const auto limit = analysis_.polynomial(counted->limit);
    if (!first || !limit) return refuse("a loop's bounds are not known before the kernel runs");
    WindowLoop window{loop, *counted, std::nullopt, false};
    const auto trips = (*limit - *first).constant();
    const bool is_constant = trips && *trips >= 1 && first->constant();
    if (is_constant) window.trips = *trips;
    if (!is_constant && !nest_.loops.empty())
      return refuse("an inner loop over '" + counted->name + "' has no constant length");
    if (!is_constant && !first->is_zero())
      return refuse("the loop over '" + counted->name + "' does not begin at zero");
    nest_.loops.push_back(std::move(window));
    return descend(loop->body);
  }

  Status descend(const Block& body) {
    Block work;
    for (const StmtPtr& stmt : body) {
      if (as<Declaration>(*stmt) == nullptr) work.push_back(stmt);
    }
    if (work.size() != 1 || !is<ForLoop>(work.front())) {
      nest_.innermost = body;
      return take(body, {});
    }
    for (const StmtPtr& stmt : body) {
      if (stmt == work.front()) continue;
      if (Status status = name(stmt); !status) return status;
      nest_.between.push_back(stmt);
    }
    return enter(work.front());
  }

  static bool calls(const ExprPtr& expr) {
    bool result = false;
    walk(expr, [&](const Expr& part) {
      result = result || is<Call>(part) || is<OpaqueExpression>(part);
    });
    return result;
  }

  Status name(const StmtPtr& stmt) {
    const auto* declaration = as<Declaration>(stmt);
    const std::string& declared = declaration->variable.name;
    // Nothing but sums changes in the nest, so that what is read from memory may be read again.
    const bool is_name = declaration->value &&
                         (analysis_.definition(declared) ||
                          (analysis_.is_single_definition(declared) && !calls(declaration->value)));
    if (!is_name || !declaration->variable.extents.empty() || declaration->variable.is_pointer) {
      return refuse("'" + declared + "' is more than a name for a value");
    }
    nest_.names.push_back(stmt);
    return {};
  }

  Status take(const Block& block, const std::vector<ExprPtr>& guards) {
    for (const StmtPtr& stmt : block) {
      if (is<Declaration>(stmt)) {
        if (Status status = name(stmt); !status) return status;
      } else if (const auto* branch = as<Branch>(stmt); branch && branch->otherwise.empty()) {
        std::vector<ExprPtr> inside = guards;
        for (const ExprPtr& term : conjuncts(branch->condition))
          inside.push_back(term);
        if (Status status = take(branch->body, inside); !status) return status;
      } else if (const auto* update = as<Assignment>(stmt)) {
        const auto* base = base_variable(*update->target);
        if (base == nullptr || !is_register(base->name, analysis_))
          return refuse("a loop writes memory");
        nest_.sums.insert(base->name);
        nest_.updates.push_back({update->target, update->op, update->value, guards, guards});
      } else {
        return refuse("its loops hold more than sums over a window");
      }
    }
    return {};
  }

  // Which loops are over copies, from the sums' indices.
  Status classify_loops() {
    std::set<std::string> copies;
    for (const WindowUpdate& update : nest_.updates) {
      for (const ExprPtr& index : indices_of(*update.target)) {
        const auto* counter = as<VariableReference>(index);
        if (counter != nullptr) copies.insert(counter->name);
        if (counter == nullptr && !is<IntegerLiteral>(index))
          return refuse("a sum has another index than a counter");
      }
    }
    for (WindowLoop& loop : nest_.loops) {
      loop.is_copy = copies.erase(loop.counted.name) > 0;
      if (loop.is_copy && !loop.trips) return refuse("the number of sums is no constant");
    }
    if (!copies.empty()) return refuse("a sum has an index that no loop counts");
    const bool adds = std::any_of(nest_.loops.begin(), nest_.loops.end(),
                                  [](const WindowLoop& loop) { return !loop.is_copy; });
    if (!adds) return refuse("its loops add nothing up");
    return {};
  }

  Status check_updates() {
    const auto copies = std::count_if(nest_.loops.begin(), nest_.loops.end(),
                                      [](const WindowLoop& loop) { return loop.is_copy; });
    for (WindowUpdate& update : nest_.updates) {
      const auto indices = indices_of(*update.target);
      const auto named = std::count_if(indices.begin(), indices.end(), [](const ExprPtr& index) {
        return is<VariableReference>(index);
      });
      if (named != copies) return refuse("its sums are not one for each copy");
      update.value = written_out(update.value);
      for (ExprPtr& guard : update.guards)
        guard = written_out(guard);
      const ExprPtr term = added_by(update);
      if (!term) return refuse("a loop does more than to add up");
      for (const std::string& name : variables_of(term)) {
        if (nest_.sums.contains(name)) return refuse("what is added depends on the sum");
      }
      for (const ExprPtr& guard : update.guards) {
        for (const std::string& name : variables_of(guard)) {
          if (nest_.sums.contains(name)) return refuse("a guard depends on a sum");
        }
        if (analysis_.reads_memory(guard)) return refuse("a guard reads memory");
      }
    }
    return {};
  }

  // With the nest's own names replaced by what they stand for.
  ExprPtr written_out(const ExprPtr& expr) const {
    return rewrite_expr(expr, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
      const auto* variable = as<VariableReference>(node);
      if (variable == nullptr) return std::nullopt;
      for (const StmtPtr& stmt : nest_.names) {
        const auto& declaration = to<Declaration>(*stmt);
        if (declaration.variable.name != variable->name) continue;
        const ExprPtr value = written_out(declaration.value);
        const auto* choice = as<Conditional>(value);
        const auto type = choice != nullptr && choice->then->type == choice->otherwise->type
                              ? choice->then->type
                              : value->type;
        const bool is_same = declaration.variable.scalar && type == declaration.variable.scalar;
        if (is_same || !declaration.variable.scalar) return value;
        return with_type(cast(declaration.variable.type, value), declaration.variable.scalar);
      }
      return std::nullopt;
    });
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
  const WindowLengths lengths_;
  WindowNest nest_;
};

}  // namespace

Result<WindowNest> find_window_nest(const Kernel& kernel, const Analysis& analysis,
                                    WindowLengths lengths) {
  Error reason = refuse("the kernel has no loop that all threads reach");
  const std::vector<StmtPtr> reached = loops_all_reach(kernel.body, analysis);
  for (std::size_t at = 0; at < kernel.body.size(); ++at) {
    if (std::find(reached.begin(), reached.end(), kernel.body[at]) == reached.end()) continue;
    auto nest = NestFinder(kernel, analysis, lengths).find(at);
    if (nest) return nest;
    reason = refuse("loop at line " + std::to_string(kernel.body[at]->line) + ": " +
                    nest.error().message);
  }
  return reason;
}

}  // namespace regraph::rewrite
