#include "rewrite/analysis/weighted_sums.h"

#include "rewrite/analysis/guarded_liveness.h"
#include "rewrite/forms/kernel_state.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace regraph::rewrite {

namespace {

// How an expression follows weights.
enum class WeightDegree : std::uint8_t { zero, none, linear, other };

class Summer {
 public:
  Summer(const Block& body, const Analysis& analysis,
         const std::function<bool(const ExprPtr&)>& is_weight)
      : body_(body), analysis_(analysis), is_weight_(is_weight), inside_(declared_names(body)) {}

  Result<WeightedSums> run() {
    if (Status status = block(body_, std::vector<CountedLoop>()); !status) return status.error();
    if (result_.accumulators.empty()) return refuse("it adds no weights up");
    for (const Variable& accumulator : result_.accumulators) {
      if (is_used_otherwise(accumulator.name))
        return refuse("'" + accumulator.name + "' is read before the loop is over");
    }
    return std::move(result_);
  }

 private:
  // The counted loops of constant length around a statement; nothing under a condition.
  using Around = std::optional<std::vector<CountedLoop>>;

  Status block(const Block& statements, const Around& around) {
    for (const StmtPtr& stmt : statements) {
      if (Status status = statement(stmt, around); !status) return status;
    }
    return {};
  }

  Status statement(const StmtPtr& stmt, const Around& around) {
    switch (stmt->kind()) {
      case StmtKind::declaration:
        return declaration(to<Declaration>(stmt));
      case StmtKind::assignment:
        return assignment(stmt, to<Assignment>(stmt), around);
      case StmtKind::branch: {
        if (degree(value_of(*stmt)) > WeightDegree::none) return follows("a condition");
        if (Status status = block(body_of(*stmt), std::nullopt); !status) return status;
        return block(otherwise_of(*stmt), std::nullopt);
      }
      case StmtKind::for_loop:
        return loop(stmt, around);
      case StmtKind::scope:
        return block(body_of(*stmt), around);
      default:
        return refuse(
            "the second loop holds a barrier, a jump, a while loop or a call for its "
            "effect");
    }
  }

  static Error follows(const std::string& what) {
    return refuse(what + " of the second loop follows the largest value so far");
  }

  Status loop(const StmtPtr& stmt, const Around& around) {
    const auto counted = counted_loop_of(*stmt);
    if (!counted) return refuse("a loop in the second loop does not count up to a limit");
    if (degree(counted->first) > WeightDegree::none || degree(counted->limit) > WeightDegree::none)
      return follows("a bound");
    Around inside = around;
    const auto trips = counted->trip_count();
    if (!trips || *trips < 1) inside.reset();
    if (inside) inside->push_back(*counted);
    return block(body_of(*stmt), inside);
  }

  Status declaration(const Declaration& stmt) {
    if (stmt.variable.storage != Storage::automatic)
      return refuse("the second loop declares shared memory");
    if (!stmt.value) return {};
    const WeightDegree of = degree(stmt.value);
    if (of <= WeightDegree::none) return {};
    const std::string& name = stmt.variable.name;
    if (of == WeightDegree::other || !analysis_.is_single_definition(name) ||
        !stmt.variable.scalar || !is_floating(*stmt.variable.scalar)) {
      return refuse("'" + name + "' follows the largest value so far, and not as a weight does");
    }
    linear_.insert(name);
    return {};
  }

  Status assignment(const StmtPtr& stmt, const Assignment& assigned, const Around& around) {
    const auto* base = base_variable(*assigned.target);
    if (base == nullptr)
      return refuse("the second loop assigns to something that is no variable or array element");
    for (const ExprPtr& index : indices_of(*assigned.target)) {
      if (degree(index) > WeightDegree::none) return follows("an index");
    }
    if (!is_register(base->name, analysis_)) {
      return refuse("the second loop writes '" + base->name +
                    "', which could be seen before the largest value is known");
    }
    const auto added = added_weight(assigned);
    if (!added) {
      if (degree(assigned.value) <= WeightDegree::none) return {};
      return refuse("'" + base->name + "' follows the largest value so far, and is no sum");
    }
    if (inside_.contains(base->name))
      return refuse("'" + base->name + "' adds weights up for one iteration only");
    const Variable* variable = analysis_.local(base->name);
    if (!variable->scalar || !is_floating(*variable->scalar))
      return refuse("'" + base->name + "' is no floating-point sum");
    updates_.emplace(stmt.get(), base->name);
    const bool is_known =
        std::any_of(result_.accumulators.begin(), result_.accumulators.end(),
                    [&](const Variable& known) { return known.name == variable->name; });
    if (!is_known) result_.accumulators.push_back(*variable);
    if (!is_known &&
        !(around && covers(*assigned.target, *variable, *around) && is_always_weight(*added)))
      result_.are_added_always = false;
    return {};
  }

  // What the assignment adds to its target that is linear in weights; null for anything else.
  std::optional<ExprPtr> added_weight(const Assignment& assigned) const {
    const auto added = added_term(assigned);
    const bool is_linear = added && degree(added->term) == WeightDegree::linear;
    return is_linear ? std::optional(added->term) : std::nullopt;
  }

  // Whether the loops around the assignment go through all elements of the array.
  static bool covers(const Expr& target, const Variable& variable,
                     const std::vector<CountedLoop>& around) {
    const std::vector<ExprPtr> indices = indices_of(target);
    if (indices.size() != variable.extents.size()) return false;
    std::set<std::string> counters;
    for (std::size_t axis = 0; axis < indices.size(); ++axis) {
      const bool is_covered =
          std::any_of(around.begin(), around.end(), [&](const CountedLoop& loop) {
            return is_named(indices[axis], loop.name) && loop.starts_at_zero() &&
                   loop.stride == 1 && loop.trip_count() == variable.extents[axis] &&
                   counters.insert(loop.name).second;
          });
      if (!is_covered) return false;
    }
    return true;
  }

  // Not a choice between a weight and something else.
  static bool is_always_weight(const ExprPtr& expr) {
    return !any_expression(expr, [&](const Expr& node) { return is<Conditional>(node); });
  }

  WeightDegree degree(const ExprPtr& expr) const {
    if (!expr) return WeightDegree::none;
    if (is_weight_(expr)) return WeightDegree::linear;
    if (is_zero(expr)) return WeightDegree::zero;
    if (const auto* variable = as<VariableReference>(expr))
      return linear_.contains(variable->name) ? WeightDegree::linear : WeightDegree::none;
    if (const auto* binary = as<Binary>(expr)) return degree_of(*binary);
    if (const auto* unary = as<Unary>(expr)) {
      const WeightDegree inner = degree(unary->operand);
      const bool keeps = unary->op == UnaryOperator::minus || unary->op == UnaryOperator::plus;
      return inner <= WeightDegree::none || keeps ? inner : WeightDegree::other;
    }
    if (const auto* cast = as<Cast>(expr)) {
      const WeightDegree inner = degree(cast->operand);
      const bool keeps = cast->type && is_floating(*cast->type);
      return inner <= WeightDegree::none || keeps ? inner : WeightDegree::other;
    }
    if (const auto* choice = as<Conditional>(expr)) {
      const WeightDegree inner = together(degree(choice->then), degree(choice->otherwise));
      return degree(choice->condition) <= WeightDegree::none ? inner : WeightDegree::other;
    }
    if (const Call* call = as_multiply_add(expr)) {
      return together(product(degree(call->arguments[0]), degree(call->arguments[1])),
                      degree(call->arguments[2]));
    }
    WeightDegree result = WeightDegree::none;
    for_each_operand(*expr, [&](const ExprPtr& operand) {
      if (degree(operand) > WeightDegree::none) result = WeightDegree::other;
    });
    return result;
  }

  WeightDegree degree_of(const Binary& binary) const {
    const WeightDegree left = degree(binary.left);
    const WeightDegree right = degree(binary.right);
    switch (binary.op) {
      case BinaryOperator::multiply:
        return product(left, right);
      case BinaryOperator::divide:
        return right <= WeightDegree::none ? left : WeightDegree::other;
      case BinaryOperator::add:
      case BinaryOperator::subtract:
        return together(left, right);
      default:
        return left <= WeightDegree::none && right <= WeightDegree::none ? WeightDegree::none
                                                                         : WeightDegree::other;
    }
  }

  static WeightDegree product(WeightDegree left, WeightDegree right) {
    if (left <= WeightDegree::none && right <= WeightDegree::none) return WeightDegree::none;
    const bool is_linear = (left == WeightDegree::linear && right <= WeightDegree::none) ||
                           (right == WeightDegree::linear && left <= WeightDegree::none);
    return is_linear ? WeightDegree::linear : WeightDegree::other;
  }

  // Of a sum, or of a choice: nothing but zero goes together with a weight.
  static WeightDegree together(WeightDegree left, WeightDegree right) {
    if (left == right) return left;
    if (left == WeightDegree::zero) return right;
    if (right == WeightDegree::zero) return left;
    return WeightDegree::other;
  }

  // Besides being added to.
  bool is_used_otherwise(const std::string& name) const {
    bool found = false;
    const auto mentions = [&](const ExprPtr& expr) {
      return expr && variables_of(expr).contains(name);
    };
    walk(body_, [&](const Stmt& stmt) {
      const auto update = updates_.find(&stmt);
      if (update == updates_.end() || update->second != name) {
        found = found || mentions(target_of(stmt)) || mentions(value_of(stmt));
        return;
      }
      // x = x + w, and nothing else of x.
      const auto& assigned = to<Assignment>(stmt);
      std::size_t uses = 0;
      walk(assigned.value, [&](const Expr& node) {
        if (is_named(node, name)) ++uses;
      });
      found = found || uses > (assigned.op == AssignmentOperator::assign ? 1U : 0U);
      for (const ExprPtr& index : indices_of(*assigned.target))
        found = found || mentions(index);
    });
    return found;
  }

  const Block& body_;
  const Analysis& analysis_;
  const std::function<bool(const ExprPtr&)>& is_weight_;
  std::set<std::string> inside_;
  std::set<std::string> linear_;
  std::map<const Stmt*, std::string> updates_;
  WeightedSums result_;
};

}  // namespace

Result<WeightedSums> weighted_sums(const Block& body, const Analysis& analysis,
                                   const std::function<bool(const ExprPtr&)>& is_weight) {
  return Summer(body, analysis, is_weight).run();
}

}  // namespace regraph::rewrite
