#include "rewrite/forms/induction_variables.h"

#include "affine/index_range.h"
#include "rewrite/forms/advance.h"
#include "rewrite/forms/liveness.h"
#include "rewrite/forms/uses.h"
#include "source/build.h"
#include "source/counted_loop.h"
#include "source/match.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

// The statement with the pointer's elements `offset` further on; null where it is used in another
// way.
StmtPtr with_pointer_moved(const StmtPtr& stmt, const std::string& name, const ExprPtr& offset,
                           bool is_backwards) {
  bool is_used_otherwise = false;
  const ExprRewrite moved = [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
    is_used_otherwise = is_used_otherwise || is_named(expr, name);
    const auto* access = as<Subscript>(expr);
    if (access == nullptr || !is_named(access->base, name)) return std::nullopt;
    const ExprPtr index = rewrite_expr(access->index, moved);
    auto result = std::make_shared<Subscript>(*access);
    const bool is_first = is_number(index, 0) && !is_backwards;
    result->index = is_first       ? offset
                    : is_backwards ? source::subtract(index, offset)
                                   : source::add(index, offset);
    return result;
  };
  const Block result = rewrite_expressions({stmt}, moved);
  return is_used_otherwise ? nullptr : result.front();
}

class InductionRemover final : public Mutator {
 public:
  explicit InductionRemover(const Kernel& kernel) : body_(kernel.body) {
    walk(kernel.body, [&](const Stmt& stmt) {
      const auto* declaration = as<Declaration>(stmt);
      if (declaration == nullptr) return;
      const Variable& variable = declaration->variable;
      const bool may_move = variable.extents.empty() && variable.storage == Storage::automatic &&
                            (variable.is_pointer || is_index_type(variable.scalar));
      if (!may_move) return;
      if (!variables_.emplace(variable.name, variable).second) ambiguous_.insert(variable.name);
      names_.push_back(variable.name);
    });
    walk_expressions(kernel.body, [&](const Expr& expr) {
      const auto* unary = as<Unary>(expr);
      if (unary == nullptr || unary->op != UnaryOperator::address_of) return;
      for (const std::string& name : variables_of(unary->operand))
        ambiguous_.insert(name);
    });
    for (const std::string& name : ambiguous_)
      variables_.erase(name);
  }

  Block remove() { return variables_.empty() ? body_ : run(body_); }

 private:
  using Mutator::mutate;
  using Mutator::run;

  void append(const StmtPtr& stmt, Block& out) override {
    if (!is<ForLoop>(stmt)) {
      out.push_back(run(stmt));
      return;
    }
    StmtPtr loop = Mutator::run(stmt);
    for (bool again = true; again;) {
      again = false;
      Block after;
      if (StmtPtr next = without_one(loop, *stmt, after)) {
        loop = std::move(next);
        after_.insert(after_.end(), after.begin(), after.end());
        again = true;
      }
    }
    out.push_back(std::move(loop));
    out.insert(out.end(), after_.begin(), after_.end());
    after_.clear();
  }

  // The loop without one of its induction variables, null if there is none. `original`: the loop
  // as it stands in the kernel.
  StmtPtr without_one(const StmtPtr& stmt, const Stmt& original, Block& after) {
    const auto counted = counted_loop_of(*stmt);
    if (!counted) return nullptr;
    const auto& loop = to<ForLoop>(stmt);
    const Block& body = loop.body;
    if (holds_any(body, {StmtKind::jump, StmtKind::return_})) return nullptr;
    const std::set<std::string> asked =
        variables_of(Block{source::loop(loop.init, loop.condition, loop.step, {})});
    for (std::size_t at = 0; at < body.size(); ++at) {
      const auto advance = advance_of(*body[at]);
      if (!advance || asked.contains(advance->name)) continue;
      const std::string& name = advance->name;
      const auto variable = variables_.find(name);
      if (variable == variables_.end()) continue;
      std::set<std::string> changed = given_values_in(others(body, at));
      changed.insert(counted->name);
      if (changed.contains(name)) continue;
      changed.insert(name);
      if (!is_kept(advance->step, changed) || !is_kept(counted->first, changed) ||
          !fits(advance->step, variable->second)) {
        continue;
      }
      const bool is_needed = is_live_after(original, name);
      const auto trips = counted->trip_count();
      if (is_needed && !trips) continue;
      StmtPtr result = moved(stmt, at, variable->second, *advance, *counted);
      if (!result) continue;
      if (is_needed && *trips > 0) {
        after.push_back(
            assign(source::variable(name, variable->second.scalar),
                   advance->is_backwards ? AssignmentOperator::subtract : AssignmentOperator::add,
                   source::multiply(integer(*trips), advance->step)));
      }
      return result;
    }
    return nullptr;
  }

  bool is_live_after(const Stmt& loop, const std::string& name) {
    if (!liveness_) liveness_.emplace(body_, names_);
    return liveness_->is_live_after(loop, name);
  }

  static Block others(const Block& body, std::size_t at) {
    Block result = body;
    result.erase(result.begin() + static_cast<std::ptrdiff_t>(at));
    return result;
  }

  // value / divisor where the value says that it is a multiple: 32 and n * 32 of 32; else null.
  static ExprPtr exact_part(const ExprPtr& value, std::int64_t divisor) {
    if (const auto* number = as<IntegerLiteral>(value)) {
      return number->value % divisor == 0 ? integer(number->value / divisor) : nullptr;
    }
    const auto* product = as<Binary>(value);
    if (product == nullptr || product->op != BinaryOperator::multiply) return nullptr;
    if (const ExprPtr left = exact_part(product->left, divisor))
      return source::multiply(left, product->right);
    const ExprPtr right = exact_part(product->right, divisor);
    return right ? source::multiply(product->left, right) : nullptr;
  }

  // Whether the step is an integer that the variable can hold.
  static bool fits(const ExprPtr& step, const Variable& variable) {
    if (!is_index_type(step->type)) return is<IntegerLiteral>(step);
    return variable.is_pointer || size_in_bytes(*step->type) <= size_in_bytes(*variable.scalar);
  }

  StmtPtr moved(const StmtPtr& stmt, std::size_t at, const Variable& variable,
                const Advance& advance, const CountedLoop& counted) const {
    const auto& loop = to<ForLoop>(stmt);
    const auto type = variable.is_pointer ? std::optional(ScalarType::i64) : variable.scalar;
    const Declaration* counter = loop.declaration();
    if (counter == nullptr || !is_index_type(counter->variable.scalar)) return nullptr;
    // What lies between neighbouring values of the counter.
    ExprPtr distance = advance.step;
    if (counted.stride != 1) {
      distance = exact_part(distance, counted.stride);
      if (!distance) return nullptr;
    }
    ExprPtr count = source::variable(counted.name, counter->variable.scalar);
    if (!counted.starts_at_zero()) count = source::subtract(count, counted.first);
    // In as many bits as the variable, signed or not as it is: it may get further than the counter.
    const auto as_variable = [&](const ExprPtr& value, const std::optional<ScalarType>& from) {
      return from == type || is<IntegerLiteral>(value) ? value
                                                       : cast(std::string(cuda_name(*type)), value);
    };
    ExprPtr offset = source::multiply(as_variable(count, counter->variable.scalar),
                                      as_variable(distance, distance->type));
    Block body;
    for (std::size_t i = 0; i < loop.body.size(); ++i) {
      if (i == at) {
        offset = source::add(offset, as_variable(advance.step, advance.step->type));
        continue;
      }
      if (variable.is_pointer) {
        body.push_back(
            with_pointer_moved(loop.body[i], variable.name, offset, advance.is_backwards));
        if (!body.back()) return nullptr;
        continue;
      }
      const ExprPtr from = source::variable(variable.name, variable.scalar);
      const ExprPtr there =
          advance.is_backwards ? source::subtract(from, offset) : source::add(from, offset);
      const Block one = rewrite_expressions(
          {loop.body[i]}, replace_variable(variable.name, with_type(there, variable.scalar)));
      body.insert(body.end(), one.begin(), one.end());
    }
    return with_blocks(stmt, std::move(body), {});
  }

  const Block& body_;
  std::map<std::string, Variable> variables_;
  std::vector<std::string> names_;
  std::set<std::string> ambiguous_;
  std::optional<Liveness> liveness_;
  Block after_;
};

}  // namespace

Block without_induction_variables(const Kernel& kernel) {
  return InductionRemover(kernel).remove();
}

}  // namespace regraph::rewrite
