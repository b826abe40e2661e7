#include "rewrite/analysis/online_loops.h"

#include "base/result.h"
#include "rewrite/analysis/guarded_liveness.h"
#include "rewrite/analysis/loop_value.h"
#include "rewrite/analysis/reduction.h"
#include "rewrite/analysis/reduction_loop.h"
#include "rewrite/analysis/refusal_place.h"
#include "rewrite/analysis/weighted_sums.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/kernel_state.h"
#include "rewrite/forms/uses.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/counted_loop.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace regraph::rewrite {

namespace {

// What stands between two loops over the same values, and in the second, must leave the values
// alone.

// Behind the last statement that gives the value.
std::size_t weighted_position(const LoopValue& weighted, const Block& body) {
  std::size_t found = 0;
  std::size_t left = weighted.statements.size();
  for (std::size_t at = 0; at < body.size() && left > 0; ++at) {
    if (!share_a_name(given_values_in({body[at]}), weighted.needs)) continue;
    --left;
    found = at + 1;
  }
  return found;
}

// Memory, or a name that is read.
std::optional<std::string> changed_by(const Assignment& assignment,
                                      const std::set<std::string>& read, const Analysis& analysis) {
  const auto* base = base_variable(*assignment.target);
  if (base == nullptr) return "something that is no variable or array element is changed";
  if (!is_register(base->name, analysis))
    return "'" + base->name + "' is written before the values are known to be over";
  if (read.contains(base->name)) return "'" + base->name + "' changes after it was compared";
  return std::nullopt;
}

// The loops are statements `first` and `second` of the block; `value` is what the first compares,
// `weighted` the same in the second. Error: refused, with what changes them, or what the loops
// could not be moved across.
Status require_unchanged(const Block& block, std::size_t first, std::size_t second,
                         const LoopValue& value, const LoopValue& weighted,
                         const Analysis& analysis) {
  std::set<std::string> read = value.reads;
  const auto counted = counted_loop_of(*block[first]);
  for (const ExprPtr& bound : {counted->first, counted->limit}) {
    for (const std::string& name : variables_of(bound))
      read.insert(name);
  }
  const Block between(block.begin() + static_cast<std::ptrdiff_t>(first) + 1,
                      block.begin() + static_cast<std::ptrdiff_t>(second));
  const Block& body = body_of(*block[second]);
  std::optional<std::string> obstacle;
  const auto ask = [&](const Stmt& stmt) {
    if (obstacle) return;
    switch (stmt.kind()) {
      case StmtKind::declaration:
      case StmtKind::branch:
      case StmtKind::for_loop:
      case StmtKind::scope:
        return;
      case StmtKind::assignment:
        obstacle = changed_by(to<Assignment>(stmt), read, analysis);
        return;
      default:
        obstacle =
            "a barrier, a jump, a while loop or a call for its effect stands between the "
            "loops";
    }
  };
  walk(between, ask);
  walk(body, ask);
  if (obstacle) return refuse(*obstacle);
  // Values that weights need must not change once the maximum has seen them.
  const Block after(body.begin() + static_cast<std::ptrdiff_t>(
                                       std::min(weighted_position(weighted, body), body.size())),
                    body.end());
  if (share_a_name(changed_names(after), weighted.needs))
    return refuse("what it weights is changed in the same iteration");
  return {};
}

// Whether memory is written in front of statement `end` of the block.
bool writes_memory(const Block& block, std::size_t end, const Analysis& analysis) {
  const Block before(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(end));
  return any_statement(before, [&](const Stmt& stmt) {
    if (is<source::Evaluation>(stmt) || is<OpaqueStatement>(stmt)) return true;
    const ExprPtr& target = target_of(stmt);
    const auto* base = target ? base_variable(*target) : nullptr;
    return target && (base == nullptr || !is_register(base->name, analysis));
  });
}

// Loops that find the largest of some values.

// What the loop that finds the largest value does.
struct MaximumLoop {
  StmtPtr loop;
  CountedLoop counted;
  Reduction maximum;
  std::size_t update = 0;  // which statement of the body
  ExprPtr value;
};

// m = fmaxf(m, value), m = value > m ? value : m, if (value > m) m = value; null for others.
ExprPtr updating_value(const StmtPtr& stmt, const std::string& name) {
  if (const auto* branch = as<Branch>(stmt))
    return branch->body.size() == 1 ? value_of(*branch->body.front()) : nullptr;
  const auto* assignment = as<Assignment>(stmt);
  if (assignment == nullptr) return nullptr;
  if (const auto* call = as<Call>(assignment->value))
    return is_named(call->arguments[0], name) ? call->arguments[1] : call->arguments[0];
  const auto* choice = as<Conditional>(assignment->value);
  if (choice == nullptr) return nullptr;
  return is_named(choice->then, name) ? choice->otherwise : choice->then;
}

// The loop that the statement is; nothing where it counts otherwise than up to a limit, or does
// more than to update one floating-point maximum in one place.
std::optional<MaximumLoop> maximum_loop_of(const StmtPtr& stmt, const Analysis& analysis) {
  const auto* loop = as<ForLoop>(stmt);
  const auto counted = counted_loop_of(*stmt);
  if (loop == nullptr || !counted) return std::nullopt;
  const auto effects = effects_of(*loop, analysis);
  if (!effects || effects->reductions.size() != 1 || !effects->selections.empty() ||
      !effects->stored.empty()) {
    return std::nullopt;
  }
  MaximumLoop result{stmt, *counted, effects->reductions.front(), 0, nullptr};
  if (!is_floating(result.maximum.scalar) || !result.maximum.keeps_largest()) return std::nullopt;
  std::size_t updates = 0;
  for (std::size_t at = 0; at < loop->body.size(); ++at) {
    if (!is_mentioned(Block{loop->body[at]}, result.maximum.variable)) continue;
    result.update = at;
    result.value = updating_value(loop->body[at], result.maximum.variable);
    ++updates;
  }
  return updates == 1 && result.value ? std::optional(result) : std::nullopt;
}

// What variables hold when a loop begins.

bool is_all_zero(const ExprPtr& expr) {
  if (is_number(expr, 0)) return true;
  const auto* literal = as<FloatingLiteral>(expr);
  if (literal != nullptr) return literal->spelling.find_first_not_of("0.fF") == std::string::npos;
  const auto* list = as<InitializerList>(expr);
  return list != nullptr && std::all_of(list->values.begin(), list->values.end(), is_all_zero);
}

// x = 0, or loops that do so with all elements of an array.
bool clears(const StmtPtr& stmt, const Variable& variable, std::size_t axis) {
  if (axis == variable.extents.size()) {
    const auto* assignment = as<Assignment>(stmt);
    return assignment != nullptr && assignment->op == AssignmentOperator::assign &&
           is_all_zero(assignment->value) && indices_of(*assignment->target).size() == axis;
  }
  const auto counted = counted_loop_of(*stmt);
  if (!counted || !counted->starts_at_zero() || counted->stride != 1 ||
      counted->trip_count() != variable.extents[axis] || body_of(*stmt).size() != 1) {
    return false;
  }
  // The counter of this loop is that axis's index.
  bool is_index = true;
  walk(body_of(*stmt), [&](const Stmt& inner) {
    if (const ExprPtr& target = target_of(inner); target && !is<ForLoop>(inner)) {
      const auto* base = base_variable(*target);
      if (base == nullptr || base->name != variable.name) return;
      const auto indices = indices_of(*target);
      is_index = is_index && axis < indices.size() && is_named(indices[axis], counted->name);
    }
  });
  return is_index && clears(body_of(*stmt).front(), variable, axis + 1);
}

// Whether the expression is a number, and no infinite one.
bool is_finite_number(const ExprPtr& expr) {
  if (const auto* minus = as_unary(expr, UnaryOperator::minus))
    return is_finite_number(minus->operand);
  if (is<IntegerLiteral>(expr)) return true;
  const auto* literal = as<FloatingLiteral>(expr);
  return literal != nullptr && std::isfinite(std::strtof(literal->spelling.c_str(), nullptr)) &&
         literal->spelling.find_first_of("0123456789") == 0;
}

// The value that the last statement in front of position `before` gives the variable; null where
// that is not known.
ExprPtr start_of(const Block& block, std::size_t before, const std::string& name) {
  for (std::size_t at = before; at-- > 0;) {
    const auto* declaration = as<Declaration>(block[at]);
    if (declaration != nullptr && declaration->variable.name == name) return declaration->value;
    const auto* assignment = as<Assignment>(block[at]);
    if (assignment != nullptr && is_named(assignment->target, name))
      return assignment->op == AssignmentOperator::assign ? assignment->value : nullptr;
    if (changed_names({block[at]}).contains(name)) return nullptr;
  }
  return nullptr;
}

// Whether the variable, or every element of an array, is zero there.
bool starts_from_zero(const Block& block, std::size_t before, const Variable& variable) {
  for (std::size_t at = before; at-- > 0;) {
    const auto* declaration = as<Declaration>(block[at]);
    if (declaration != nullptr && declaration->variable.name == variable.name)
      return declaration->value && is_all_zero(declaration->value);
    if (changed_names({block[at]}).contains(variable.name)) return clears(block[at], variable, 0);
  }
  return false;
}

// Functions with f(a + b) = f(a) * f(b).
constexpr std::array<std::string_view, 7> kExponentials = {"expf", "exp",    "__expf",  "exp2f",
                                                           "exp2", "exp10f", "__exp10f"};

class PairFinder {
 public:
  PairFinder(const Kernel& kernel, const Analysis& analysis)
      : kernel_(kernel), analysis_(analysis) {}

  Result<OnlineLoops> run() {
    if (auto found = search(kernel_.body)) return std::move(*found);
    return reason_ ? *reason_
                   : refuse(
                         "no loop finds the largest of some values that another loop weights by "
                         "exponentials");
  }

 private:
  std::optional<OnlineLoops> search(const Block& block) {
    for (std::size_t first = 0; first < block.size(); ++first) {
      const auto maximum = maximum_loop_of(block[first], analysis_);
      if (!maximum) continue;
      for (std::size_t second = first + 1; second < block.size(); ++second) {
        if (!is_mentioned(Block{block[second]}, maximum->maximum.variable)) continue;
        if (!is<ForLoop>(block[second])) break;
        auto found = pair(block, first, second, *maximum);
        if (found) return std::move(*found);
        if (!reason_) reason_ = refuse(loop_named(*block[second]) + found.error().message);
        break;
      }
    }
    for (const StmtPtr& stmt : block) {
      for (const Block* below : {&body_of(*stmt), &otherwise_of(*stmt)}) {
        if (auto found = search(*below)) return found;
      }
    }
    return std::nullopt;
  }

  Result<OnlineLoops> pair(const Block& block, std::size_t first, std::size_t second,
                           const MaximumLoop& maximum) const {
    const std::string& name = maximum.maximum.variable;
    OnlineLoops result;
    result.maximum_loop = block[first];
    result.sum_loop = block[second];
    result.maximum = maximum.maximum;
    const auto counted = counted_loop_of(*block[second]);
    if (!counted) return refuse("it does not count up to a limit");
    result.body = with_differences(body_of(*block[second]), name);
    if (Status status = find_weights(result); !status) return status.error();

    const LoopValue compared = loop_value(body_of(*maximum.loop), maximum.update, maximum.value,
                                          maximum.counted.name, analysis_);
    const LoopValue weighted =
        loop_value(result.body, result.position, result.value, counted->name, analysis_);
    if (!equal(compared, weighted))
      return refuse("what it weights is not what '" + name + "' is the largest of");
    if (result.value->type && *result.value->type != maximum.maximum.scalar)
      return refuse("'" + name + "' is of another type than the values");

    auto sums = weighted_sums(result.body, analysis_,
                              [&](const ExprPtr& expr) { return is_weight(expr, name); });
    if (!sums) return sums.error();
    result.accumulators = sums->accumulators;
    if (Status status = require_unchanged(block, first, second, compared, weighted, analysis_);
        !status)
      return status.error();
    for (const Variable& accumulator : result.accumulators) {
      if (!starts_from_zero(block, second, accumulator))
        return refuse("'" + accumulator.name + "' does not start from zero");
    }
    const ExprPtr start = start_of(block, first, name);
    if (Status status =
            require_same_iterations(block, first, second, maximum, *counted, compared, start);
        !status) {
      return status.error();
    }
    result.may_be_infinite = !start || !is_finite_number(start);
    if (result.may_be_infinite && !sums->are_added_always) {
      return refuse("a sum is added to under a condition, and '" + name +
                    "' may be minus infinity, as it does not start from a finite number");
    }
    const auto trips = counted->trip_count();
    if (!trips || *trips < 1) result.runs = less(counted->first, counted->limit);
    return result;
  }

  // Names for differences from the maximum written out: `float d = x - m; s += expf(d);`
  Block with_differences(const Block& body, const std::string& name) const {
    std::map<std::string, ExprPtr> differences;
    walk(body, [&](const Stmt& stmt) {
      const auto* declaration = as<Declaration>(stmt);
      const auto* difference = declaration != nullptr
                                   ? as_binary(declaration->value, BinaryOperator::subtract)
                                   : nullptr;
      if (difference != nullptr && is_named(difference->right, name) &&
          declaration->value->type == declaration->variable.scalar &&
          analysis_.is_single_definition(declaration->variable.name)) {
        differences.emplace(declaration->variable.name, declaration->value);
      }
    });
    if (differences.empty()) return body;
    const Block kept = rewrite_statements(body, [&](const StmtPtr& stmt) -> std::optional<Block> {
      const auto* declaration = as<Declaration>(stmt);
      const bool drops = declaration != nullptr && differences.contains(declaration->variable.name);
      return drops ? std::optional(Block{}) : std::nullopt;
    });
    return rewrite_expressions(kept, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
      const auto* variable = as<VariableReference>(node);
      const auto found = variable != nullptr ? differences.find(variable->name) : differences.end();
      return found == differences.end() ? std::nullopt : std::optional(found->second);
    });
  }

  // All places of the maximum, which must be in weights of one value.
  static Status find_weights(OnlineLoops& loops) {
    const std::string& name = loops.maximum.variable;
    int in_weights = 0;
    bool is_one = true;
    for (std::size_t at = 0; at < loops.body.size(); ++at) {
      (void)rewrite_expressions(
          {loops.body[at]}, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
            if (!is_weight(expr, name)) return std::nullopt;
            const auto& call = to<Call>(expr);
            const ExprPtr& value = to<Binary>(call.arguments[0]).left;
            if (in_weights++ == 0) {
              loops.value = value;
              loops.exponential = call.function;
              loops.position = at;
            }
            is_one =
                is_one && source::equal(value, loops.value) && call.function == loops.exponential;
            return expr;
          });
    }
    if (in_weights == 0 || in_weights != mentions_of(name, loops.body))
      return refuse("'" + name + "' is used otherwise than in exponentials of a value less it");
    if (!is_one) return refuse("it weights by exponentials of different values");
    return {};
  }

  // The same bounds; or the first iteration is what the maximum starts from.
  Status require_same_iterations(const Block& block, std::size_t first, std::size_t second,
                                 const MaximumLoop& maximum, const CountedLoop& counted,
                                 const LoopValue& value, const ExprPtr& start) const {
    const CountedLoop& compared = maximum.counted;
    const std::string differ =
        "it does not run over what '" + maximum.maximum.variable + "' is the largest of";
    if (compared.stride != counted.stride || !is_same_bound(compared.limit, counted.limit))
      return refuse(differ);
    if (is_same_bound(compared.first, counted.first)) return {};
    const ExprPtr next = add(counted.first, integer(counted.stride));
    if (!start || !value.statements.empty() || !is_same_bound(compared.first, next))
      return refuse(differ);
    const ExprPtr at_first = rewrite_expr(value.value, replace_variable("#counter", counted.first));
    // Memory must be as it was when the maximum was given its first value.
    const bool is_fixed = !writes_memory(block, second, analysis_);
    if (!is_fixed || !is_same_value(start, at_first, analysis_)) return refuse(differ);
    (void)first;
    return {};
  }

  bool is_same_bound(const ExprPtr& a, const ExprPtr& b) const {
    const auto left = analysis_.polynomial(a);
    const auto right = analysis_.polynomial(b);
    return left && right && *left == *right;
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
  std::optional<Error> reason_;
};

}  // namespace

bool is_weight(const ExprPtr& expr, const std::string& maximum) {
  const auto* call = as<Call>(expr);
  if (call == nullptr || call->arguments.size() != 1 ||
      std::find(kExponentials.begin(), kExponentials.end(), call->function) ==
          kExponentials.end()) {
    return false;
  }
  const auto* difference = as_binary(call->arguments[0], BinaryOperator::subtract);
  return difference != nullptr && is_named(difference->right, maximum) &&
         !is_mentioned(difference->left, maximum);
}

Result<OnlineLoops> online_loops(const Kernel& kernel, const Analysis& analysis) {
  return PairFinder(kernel, analysis).run();
}

}  // namespace regraph::rewrite
