#include "rewrite/analysis/online_updates.h"

#include "rewrite/analysis/online_loops.h"
#include "rewrite/analysis/weighted_sums.h"
#include "rewrite/forms/kernel_state.h"
#include "rewrite/forms/uses.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace regraph::rewrite {

namespace {

// if (value > maximum) { scale = f(maximum - value); sum *= scale; ... }
struct Growth {
  std::string maximum;
  std::string value;
  std::string exponential;
  std::set<std::string> sums;
};

class UpdateFinder {
 public:
  explicit UpdateFinder(const Analysis& analysis) : analysis_(analysis) {}

  Result<OnlineUpdates> run(const Block& block) {
    for (std::size_t at = 0; at + 1 < block.size(); ++at) {
      const auto growth = growth_of(block[at]);
      if (growth && updates(block[at + 1], *growth)) {
        result_.growth = at;
        result_.value = growth->value;
        break;
      }
      const auto* value = as<Declaration>(block[at]);
      if (value == nullptr || !value->value) break;
    }
    result_.rest = without_updates(block);
    if (error_) return *error_;
    if (result_.maximum.empty()) return std::move(result_);
    for (const Variable& sum : result_.sums) {
      if (is_mentioned(result_.rest, sum.name))
        return refuse("'" + sum.name + "' is read before the loop is over");
    }
    // Sums are scaled to it where they are: it may not move away from them.
    const bool is_loose = any_statement(result_.rest, [&](const Stmt& stmt) {
      return !updates_.contains(&stmt) && (is_mentioned(target_of(stmt), result_.maximum) ||
                                           is_mentioned(value_of(stmt), result_.maximum));
    });
    if (is_loose) return refuse("'" + result_.maximum + "' is used otherwise than to scale sums");
    return std::move(result_);
  }

 private:
  Block without_updates(const Block& block) {
    Block out;
    for (std::size_t at = 0; at < block.size(); ++at) {
      const auto growth = growth_of(block[at]);
      if (growth && at + 1 < block.size() && updates(block[at + 1], *growth)) {
        out.push_back(block[at + 1]);
        updates_.insert(block[at + 1].get());
        take(block, at + 2, *growth, out);
        return out;
      }
      out.push_back(with_blocks(block[at], without_updates(body_of(*block[at])),
                                without_updates(otherwise_of(*block[at]))));
    }
    return out;
  }

  std::optional<Growth> growth_of(const StmtPtr& stmt) const {
    const auto* branch = as<Branch>(stmt);
    if (branch == nullptr || !branch->otherwise.empty() || branch->body.empty())
      return std::nullopt;
    Growth growth;
    const auto comparison = operation(BinaryOperator::greater, some_variable(growth.value),
                                      some_variable(growth.maximum));
    if (!matches(branch->condition, comparison) || !analysis_.is_single_definition(growth.value)) {
      return std::nullopt;
    }
    const auto* scale = as<Declaration>(branch->body.front());
    const auto* call = scale != nullptr ? as<Call>(scale->value) : nullptr;
    const bool is_scale = call != nullptr && is_weight(call_less(*call), growth.value) &&
                          is_named(to<Binary>(call->arguments[0]).left, growth.maximum) &&
                          analysis_.is_single_definition(scale->variable.name);
    if (!is_scale) return std::nullopt;
    growth.exponential = call->function;
    for (std::size_t at = 1; at < branch->body.size(); ++at) {
      const std::string sum = scaled_by(branch->body[at], scale->variable.name, {});
      if (sum.empty()) return std::nullopt;
      growth.sums.insert(sum);
    }
    return growth;
  }

  // As an expression of its own.
  static ExprPtr call_less(const Call& call) { return std::make_shared<Call>(call); }

  // The scalar, or the array of which loops scale every element; empty for anything else.
  std::string scaled_by(const StmtPtr& stmt, const std::string& scale,
                        std::vector<CountedLoop> around) const {
    if (const auto counted = counted_loop_of(*stmt)) {
      around.push_back(*counted);
      return body_of(*stmt).size() == 1 ? scaled_by(body_of(*stmt).front(), scale, around) : "";
    }
    const auto* assignment = as<Assignment>(stmt);
    const auto* base = assignment != nullptr ? base_variable(*assignment->target) : nullptr;
    const Variable* variable = base != nullptr ? analysis_.local(base->name) : nullptr;
    if (variable == nullptr || assignment->op != AssignmentOperator::multiply ||
        !is_named(assignment->value, scale)) {
      return "";
    }
    const std::vector<ExprPtr> indices = indices_of(*assignment->target);
    if (indices.size() != variable->extents.size() || indices.size() != around.size()) return "";
    for (std::size_t axis = 0; axis < indices.size(); ++axis) {
      const CountedLoop& loop = around[axis];
      if (!is_named(indices[axis], loop.name) || !loop.starts_at_zero() || loop.stride != 1 ||
          loop.trip_count() != variable->extents[axis]) {
        return "";
      }
    }
    return variable->name;
  }

  // maximum = fmaxf(maximum, value)
  static bool updates(const StmtPtr& stmt, const Growth& growth) {
    const auto* assignment = as<Assignment>(stmt);
    if (assignment == nullptr || assignment->op != AssignmentOperator::assign ||
        !is_named(assignment->target, growth.maximum)) {
      return false;
    }
    if (const auto* call = as<Call>(assignment->value)) {
      return extremum_of(call->function) == BinaryOperator::greater &&
             call->arguments.size() == 2 && is_named(call->arguments[0], growth.maximum) &&
             is_named(call->arguments[1], growth.value);
    }
    const auto* choice = as<Conditional>(assignment->value);
    return choice != nullptr && is_named(choice->then, growth.value) &&
           is_named(choice->otherwise, growth.maximum) &&
           matches(choice->condition,
                   operation(BinaryOperator::greater, named(growth.value), named(growth.maximum)));
  }

  // maximum == -INFINITY ? 0 : maximum
  static bool is_finite_maximum(const Stmt* stmt, const Growth& growth) {
    const auto* declaration = as<Declaration>(stmt);
    const auto* choice = declaration != nullptr ? as<Conditional>(declaration->value) : nullptr;
    if (choice == nullptr || !is_named(choice->otherwise, growth.maximum)) return false;
    ExprPtr infinity;
    if (!matches(choice->condition,
                 operation(BinaryOperator::equal, named(growth.maximum), any(infinity)))) {
      return false;
    }
    const auto* minus = as_unary(infinity, UnaryOperator::minus);
    const auto* literal = minus != nullptr ? as<FloatingLiteral>(minus->operand) : nullptr;
    const auto* zero = as<FloatingLiteral>(choice->then);
    return literal != nullptr && literal->spelling == "INFINITY" && zero != nullptr &&
           zero->spelling.find_first_not_of("0.fF") == std::string::npos;
  }

  // What stands behind the update of the maximum, in its block.
  void take(const Block& block, std::size_t from, const Growth& growth, Block& out) {
    std::string reference = growth.maximum;
    if (from < block.size() && is_finite_maximum(block[from].get(), growth)) {
      reference = to<Declaration>(block[from]).variable.name;
      ++from;
    }
    const Block behind(block.begin() + static_cast<std::ptrdiff_t>(from), block.end());
    const auto weighs = [&](const ExprPtr& expr) {
      return is_weight(expr, reference) && to<Call>(expr).function == growth.exponential &&
             is_named(to<Binary>(to<Call>(expr).arguments[0]).left, growth.value);
    };
    const auto sums = weighted_sums(behind, analysis_, weighs);
    if (!sums) {
      error_ = sums.error();
      return;
    }
    for (const Variable& sum : sums->accumulators) {
      if (!growth.sums.contains(sum.name)) {
        error_ = refuse("'" + sum.name + "' is not scaled when '" + growth.maximum + "' grows");
        return;
      }
      note(sum);
    }
    if (growth.sums.size() != sums->accumulators.size() ||
        (!result_.maximum.empty() &&
         (result_.maximum != growth.maximum || result_.exponential != growth.exponential))) {
      error_ = refuse("sums are scaled in several ways");
      return;
    }
    result_.maximum = growth.maximum;
    result_.exponential = growth.exponential;
    const Block unweighted =
        rewrite_expressions(behind, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
          return weighs(expr) ? std::optional(floating("1.0f")) : std::nullopt;
        });
    if (is_mentioned(unweighted, reference) || is_mentioned(unweighted, growth.maximum)) {
      error_ = refuse("'" + growth.maximum + "' is used otherwise than to scale sums");
      return;
    }
    const Block left =
        rewrite_statements(unweighted, [&](const StmtPtr& stmt) -> std::optional<Block> {
          const auto* assignment = as<Assignment>(stmt);
          const auto* base = assignment != nullptr ? base_variable(*assignment->target) : nullptr;
          if (base == nullptr || !growth.sums.contains(base->name)) return std::nullopt;
          return without_sum(*assignment, base->name);
        });
    out.insert(out.end(), left.begin(), left.end());
  }

  // What is added to the sum, and where, may be read from what others change.
  static Block without_sum(const Assignment& assignment, const std::string& sum) {
    Block result;
    const auto keep = [&](const ExprPtr& value) {
      const ExprPtr read = rewrite_expr(value, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
        const auto* base = base_variable(*expr);
        const bool is_sum = base != nullptr && base->name == sum;
        return is_sum ? std::optional(floating("0.0f")) : std::nullopt;
      });
      result.push_back(declare(local_variable("#added", "float", ScalarType::f32), read));
    };
    keep(assignment.value);
    for (const ExprPtr& index : indices_of(*assignment.target))
      keep(index);
    return result;
  }

  void note(const Variable& sum) {
    const bool is_known =
        std::any_of(result_.sums.begin(), result_.sums.end(),
                    [&](const Variable& known) { return known.name == sum.name; });
    if (!is_known) result_.sums.push_back(sum);
  }

  const Analysis& analysis_;
  std::set<const Stmt*> updates_;  // of the maximum
  OnlineUpdates result_;
  std::optional<Error> error_;
};

}  // namespace

Result<OnlineUpdates> online_updates(const Block& block, const Analysis& analysis) {
  return UpdateFinder(analysis).run(block);
}

std::vector<Reduction> scaled_sums(const OnlineUpdates& updates) {
  std::vector<Reduction> result;
  for (const Variable& sum : updates.sums) {
    Reduction reduction({sum.name, sum.type, *sum.scalar});
    reduction.scaled_by = updates.maximum;
    reduction.exponential = updates.exponential;
    result.push_back(std::move(reduction));
  }
  return result;
}

}  // namespace regraph::rewrite
