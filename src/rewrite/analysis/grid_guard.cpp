#include "rewrite/analysis/grid_guard.h"

#include "affine/block_geometry.h"
#include "affine/guarded_access.h"
#include "affine/index_range.h"
#include "affine/ranges.h"
#include "affine/refusal.h"
#include "affine/size_expression.h"
#include "affine/varying.h"
#include "source/build.h"
#include "source/match.h"
#include "source/printer.h"
#include "source/walk.h"

#include <algorithm>
#include <set>
#include <string>

namespace regraph::rewrite {

namespace {

// Whether the expression cannot be negative, from what is known about thread and loop indices.
bool is_nonnegative(const ExprPtr& expr, const Analysis& analysis) {
  if (const auto* literal = as<IntegerLiteral>(expr)) return literal->value >= 0;
  if (is<Builtin>(expr)) return true;
  if (const auto* cast = as<Cast>(expr)) return is_nonnegative(cast->operand, analysis);
  if (const auto* variable = as<VariableReference>(expr)) {
    if (const CountedLoop* loop = analysis.loop(variable->name)) {
      return is_nonnegative(loop->first, analysis);
    }
    const ExprPtr definition = analysis.definition(variable->name);
    return definition && is_nonnegative(definition, analysis);
  }
  if (const auto* binary = as<Binary>(expr)) {
    const bool keeps_sign =
        binary->op == BinaryOperator::add || binary->op == BinaryOperator::multiply ||
        binary->op == BinaryOperator::divide || binary->op == BinaryOperator::remainder ||
        binary->op == BinaryOperator::shift_right;
    return keeps_sign && is_nonnegative(binary->left, analysis) &&
           is_nonnegative(binary->right, analysis);
  }
  return false;
}

// The index as a polynomial in which locals that are no polynomials themselves, but never negative
// (coordinates of a tile copy), stay as symbols.
std::optional<Polynomial> index_polynomial(const ExprPtr& expr, const Analysis& analysis) {
  const SymbolMeaning known = analysis.meaning();
  return to_polynomial(expr, [&](const std::string& name) -> std::optional<Polynomial> {
    if (auto meaning = known(name)) return meaning;
    const bool usable =
        analysis.definition(name) != nullptr && is_nonnegative(source::variable(name), analysis);
    return usable ? std::optional(Polynomial::symbol(name)) : std::nullopt;
  });
}

// Whether sizes make it above zero: a sum of products of them.
bool is_sum_of_sizes(const Polynomial& value) {
  return !value.is_zero() && std::ranges::all_of(value.terms(), [](const auto& term) {
    return term.second > 0 && std::ranges::none_of(term.first, is_quotient);
  });
}

// limit - 1 - value where value < limit says no less; value / d < limit says value < limit * d of
// what is not negative. Nothing for other guards.
std::optional<Polynomial> slack_below(const ExprPtr& value, const Polynomial& limit,
                                      const Analysis& analysis) {
  if (const auto whole = analysis.polynomial(value)) return limit - Polynomial(1) - *whole;
  if (const auto* variable = as<VariableReference>(value)) {
    const ExprPtr definition = analysis.definition(variable->name);
    return definition ? slack_below(definition, limit, analysis) : std::nullopt;
  }
  const auto* division = as_binary(value, BinaryOperator::divide);
  if (division == nullptr || !is_index_type(value->type) ||
      !is_nonnegative(division->left, analysis)) {
    return std::nullopt;
  }
  const auto divisor = analysis.polynomial(division->right);
  if (!divisor || !is_sum_of_sizes(*divisor)) return std::nullopt;
  return slack_below(division->left, limit * *divisor, analysis);
}

std::optional<Polynomial> slack_of_quotient(const ExprPtr& guard, const Analysis& analysis) {
  const auto* less = as_binary(guard, BinaryOperator::less);
  const auto limit = less != nullptr ? analysis.polynomial(less->right) : std::nullopt;
  return limit ? slack_below(less->left, *limit, analysis) : std::nullopt;
}

// Whether the guard fails for all blocks at or beyond the end of the grid.
bool rules_out_later_blocks(const ExprPtr& guard, const Analysis& analysis, const Ranges& ranges,
                            int axis) {
  const auto read = [&](const ExprPtr& side) { return index_polynomial(side, analysis); };
  const auto in_quotients = [&](const ExprPtr& side) {
    return analysis.polynomial_with_sizes(side);
  };
  const auto is_negative = [&](const std::optional<Polynomial>& slack) {
    return slack && ranges.is_negative_beyond_grid(*slack, axis);
  };
  if (!is_negative(slack_of(guard, read)) && !is_negative(slack_of(guard, in_quotients)) &&
      !is_negative(slack_of_quotient(guard, analysis))) {
    return false;
  }
  if (!compares_unsigned(guard)) return true;
  // As an unsigned number, a negative limit lets all indices pass; a number of things is none.
  const auto& comparison = to<Binary>(guard);
  const bool is_less =
      comparison.op == BinaryOperator::less || comparison.op == BinaryOperator::less_equal;
  const auto limit = read(is_less ? comparison.right : comparison.left);
  return limit && limit->terms().size() == 1 && limit->terms().begin()->second > 0;
}

// Whether the access is the element that an atomic, done for its effect, updates: it is done under
// the guards of the access.
bool is_updated_atomically(const GuardedAccess& access) {
  const auto* evaluation = as<Evaluation>(*access.stmt);
  if (evaluation == nullptr || !is_atomic(evaluation->call().function)) return false;
  const ExprPtr target = evaluation->call().arguments.empty()
                             ? nullptr
                             : addressed(*evaluation->call().arguments.front());
  return target.get() == access.access;
}

}  // namespace

bool grid_is_guarded(const Kernel& kernel, const Analysis& analysis, const Launch& launch,
                     int axis) {
  return !grid_guard_obstacle(kernel, analysis, launch, axis);
}

std::optional<std::string> grid_guard_obstacle(const Kernel& kernel, const Analysis& analysis,
                                               const Launch& launch, int axis) {
  const std::string block = std::string("blockIdx.") + kAxes[static_cast<std::size_t>(axis)];
  const std::set<std::string> varying = varying_names(kernel, block);
  const Ranges ranges(kernel, analysis, launch, nullptr);
  std::optional<std::string> obstacle;
  std::set<const Stmt*> guarded_atomics;
  const auto in_line = [](const Stmt& stmt) {
    return stmt.line > 0 ? " in line " + std::to_string(stmt.line) : std::string();
  };
  for_each_guarded_access(kernel.body, [&](const GuardedAccess& access) {
    const auto* base = base_variable(*access.access);
    const Variable* local = base != nullptr ? analysis.local(base->name) : nullptr;
    if (obstacle || (local != nullptr && !local->is_pointer)) return;  // registers, shared memory
    std::string asking;  // the guards that could have ended the grid
    for (const ExprPtr& guard : access.guards) {
      if (rules_out_later_blocks(guard, analysis, ranges, axis)) {
        if (is_updated_atomically(access)) guarded_atomics.insert(access.stmt);
        return;
      }
      if (is_varying(guard, block, varying))
        asking += (asking.empty() ? "'" : "', '") + print(guard);
    }
    // A load that does not depend on the block's number is one that block 0 does as well.
    const bool same_for_all = !access.is_store && asking.empty() &&
                              !is_varying(access.access->index, block, varying) &&
                              !is_varying(access.access->base, block, varying);
    if (same_for_all) return;
    const std::string what =
        base != nullptr ? "the access to '" + base->name + "'" : std::string("an access");
    obstacle = what + in_line(*access.stmt) +
               (asking.empty()
                    ? " is under no guard 'index < n' with an index that grows with " + block
                    : " is guarded by " + asking + "', which is not known to end with the grid");
  });
  // Functions read memory at places that are not seen.
  walk(kernel.body, [&](const Stmt& stmt) {
    walk_own_expressions(stmt, [&](const Expr& expr) {
      const auto* call = as<Call>(expr);
      const bool is_known = call == nullptr || is_pure(*call) ||
                            is_warp_intrinsic(call->function) || is_atomic(call->function);
      if (!is_known && !obstacle)
        obstacle =
            "what '" + call->function + "'" + in_line(stmt) + " reads counts as under no guard";
    });
  });
  walk(kernel.body, [&](const Stmt& stmt) {
    // Calls are not index expressions of their own: they are taken as unguarded, and so are
    // atomics of other places than elements.
    const auto* evaluation = as<Evaluation>(stmt);
    if (evaluation == nullptr || obstacle || guarded_atomics.contains(&stmt)) return;
    const std::string& function = evaluation->call().function;
    if (!is_warp_intrinsic(function))
      obstacle = "what '" + function + "'" + in_line(stmt) + " writes counts as under no guard";
  });
  return obstacle;
}

ExprPtr grid_extent(const Launch& launch, int axis, const Kernel& kernel) {
  const IntegerExpression fixed =
      with_block_extents(launch.grid[static_cast<std::size_t>(axis)], launch.block);
  // Products of sizes may be beyond 32 bits, the extent itself is not.
  const bool wide = fixed.text().find('*') != std::string::npos;
  return size_in_kernel(fixed, kernel, Analysis(kernel), wide);
}

Result<ExprPtr> thread_limit(const Kernel& kernel, const Analysis& analysis, const Launch& launch,
                             int axis) {
  const auto obstacle = grid_guard_obstacle(kernel, analysis, launch, axis);
  if (!obstacle) return ExprPtr();
  const ExprPtr blocks = grid_extent(launch, axis, kernel);
  if (!blocks) return refuse("threads past the end of the grid could not be told: " + *obstacle);
  return source::multiply(blocks, integer(extent(launch.block, axis)));
}

}  // namespace regraph::rewrite
