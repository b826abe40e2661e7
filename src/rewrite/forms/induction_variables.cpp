#include "rewrite/forms/induction_variables.h"

#include "rewrite/forms/liveness.h"
#include "source/build.h"
#include "source/counted_loop.h"
#include "source/match.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

using source::as;
using source::Assignment;
using source::AssignmentOperator;
using source::BinaryOperator;
using source::Block;
using source::ExprPtr;
using source::ForLoop;
using source::is;
using source::StmtPtr;
using source::Variable;
using source::VariableReference;

namespace {

bool is_index_type(const std::optional<ScalarType>& type) {
  return type == ScalarType::i32 || type == ScalarType::u32 || type == ScalarType::i64 ||
         type == ScalarType::u64;
}

// What `variable = variable + step` and the like add; null for other statements.
ExprPtr step_of(const source::Stmt& stmt, std::string& variable) {
  const auto* assignment = as<Assignment>(stmt);
  const auto* target = assignment != nullptr ? as<VariableReference>(assignment->target) : nullptr;
  if (target == nullptr) return nullptr;
  variable = target->name;
  if (assignment->op == AssignmentOperator::add) return assignment->value;
  if (assignment->op == AssignmentOperator::subtract)
    return source::subtract(source::integer(0), assignment->value);
  if (assignment->op != AssignmentOperator::assign) return nullptr;
  const auto itself = source::named(variable);
  ExprPtr step;
  const bool adds =
      matches(assignment->value,
              source::operation(BinaryOperator::add, itself, source::any(step))) ||
      matches(assignment->value, source::operation(BinaryOperator::add, source::any(step), itself));
  return adds ? step : nullptr;
}

std::map<std::string, int> assignments_in(const Block& block) {
  std::map<std::string, int> result;
  source::walk(block, [&](const source::Stmt& stmt) {
    const auto* assignment = as<Assignment>(stmt);
    const auto* target =
        assignment != nullptr ? as<VariableReference>(assignment->target) : nullptr;
    if (target != nullptr) ++result[target->name];
  });
  return result;
}

// The pointer's elements `offset` further on; notes where it is used in another way.
class PointerMover final : public source::Mutator {
 public:
  PointerMover(std::string name, ExprPtr offset)
      : name_(std::move(name)), offset_(std::move(offset)) {}

  bool is_used_otherwise = false;

 private:
  using Mutator::mutate;

  ExprPtr mutate(const ExprPtr& expr, const source::Subscript& access) override {
    const auto* base = as<VariableReference>(access.base);
    if (base == nullptr || base->name != name_) return Mutator::mutate(expr, access);
    const ExprPtr index = run(access.index);
    auto moved = std::make_shared<source::Subscript>(access);
    moved->index = source::is_number(index, 0) ? offset_ : source::add(index, offset_);
    return moved;
  }
  ExprPtr mutate(const ExprPtr& expr, const VariableReference& variable) override {
    is_used_otherwise = is_used_otherwise || variable.name == name_;
    return expr;
  }

  std::string name_;
  ExprPtr offset_;
};

class InductionRemover final : public source::Mutator {
 public:
  explicit InductionRemover(const source::Kernel& kernel) : body_(kernel.body) {
    source::walk(kernel.body, [&](const source::Stmt& stmt) {
      const auto* declaration = as<source::Declaration>(stmt);
      if (declaration == nullptr) return;
      const Variable& variable = declaration->variable;
      const bool may_move = variable.extents.empty() &&
                            variable.storage == source::Storage::automatic &&
                            (variable.is_pointer || is_index_type(variable.scalar));
      if (!may_move) return;
      if (!variables_.emplace(variable.name, variable).second) ambiguous_.insert(variable.name);
      names_.push_back(variable.name);
    });
    source::walk_expressions(kernel.body, [&](const source::Expr& expr) {
      const auto* unary = as<source::Unary>(expr);
      if (unary == nullptr || unary->op != source::UnaryOperator::address_of) return;
      for (const std::string& name : source::variables_of(unary->operand))
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
  StmtPtr without_one(const StmtPtr& stmt, const source::Stmt& original, Block& after) {
    const auto counted = source::counted_loop_of(*stmt);
    if (!counted || counted->stride != 1) return nullptr;
    const Block& body = source::to<ForLoop>(stmt).body;
    const auto assigned = assignments_in(body);
    for (std::size_t at = 0; at < body.size(); ++at) {
      std::string name;
      const ExprPtr step = step_of(*body[at], name);
      const auto variable = variables_.find(name);
      if (!step || variable == variables_.end() || assigned.at(name) != 1 ||
          name == counted->name || source::declared_names(body).contains(name) ||
          !stays(step, assigned, body, *counted)) {
        continue;
      }
      const bool is_needed = is_live_after(original, name);
      const auto trips = counted->trip_count();
      if (is_needed && !trips) continue;
      StmtPtr result = moved(stmt, at, variable->second, step, *counted);
      if (!result) continue;
      if (is_needed && *trips > 0) {
        after.push_back(source::assign(source::variable(name, variable->second.scalar),
                                       AssignmentOperator::add,
                                       source::multiply(source::integer(*trips), step)));
      }
      return result;
    }
    return nullptr;
  }

  bool is_live_after(const source::Stmt& loop, const std::string& name) {
    if (!liveness_) liveness_.emplace(body_, names_);
    return liveness_->is_live_after(loop, name);
  }

  // Whether the step is the same in every iteration, and the loop's first value can be read there.
  static bool stays(const ExprPtr& step, const std::map<std::string, int>& assigned,
                    const Block& body, const source::CountedLoop& counted) {
    const std::set<std::string> declared = source::declared_names(body);
    const auto is_fixed = [&](const ExprPtr& expr) {
      bool fixed = true;
      source::walk(expr, [&](const source::Expr& part) {
        const auto* variable = as<VariableReference>(part);
        fixed = fixed && !is<source::Subscript>(part) && !is<source::Call>(part) &&
                !is<source::Member>(part) && !is<source::OpaqueExpression>(part);
        if (variable == nullptr) return;
        fixed = fixed && !assigned.contains(variable->name) && !declared.contains(variable->name) &&
                variable->name != counted.name;
      });
      return fixed;
    };
    return is_fixed(step) && is_fixed(counted.first);
  }

  StmtPtr moved(const StmtPtr& stmt, std::size_t at, const Variable& variable, const ExprPtr& step,
                const source::CountedLoop& counted) const {
    const auto& loop = source::to<ForLoop>(stmt);
    const auto type = variable.is_pointer ? std::optional(ScalarType::i64) : variable.scalar;
    const source::Declaration* counter = loop.declaration();
    if (counter == nullptr || !is_index_type(counter->variable.scalar)) return nullptr;
    ExprPtr done = source::variable(counted.name, counter->variable.scalar);
    if (!source::is_number(counted.first, 0)) done = source::subtract(done, counted.first);
    Block body;
    for (std::size_t i = 0; i < loop.body.size(); ++i) {
      if (i == at) {
        done = source::add(done, source::integer(1));
        continue;
      }
      // As wide as the variable, which may get further than the counter could.
      const ExprPtr count = counter->variable.scalar == type
                                ? done
                                : source::cast(std::string(cuda_name(*type)), done);
      const ExprPtr offset = source::is_number(step, 1) ? count : source::multiply(count, step);
      if (variable.is_pointer) {
        PointerMover mover(variable.name, offset);
        body.push_back(mover.run(loop.body[i]));
        if (mover.is_used_otherwise) return nullptr;
        continue;
      }
      const Block one = source::rewrite_expressions(
          {loop.body[i]},
          source::replace_variable(
              variable.name,
              source::add(source::variable(variable.name, variable.scalar), offset)));
      body.insert(body.end(), one.begin(), one.end());
    }
    return source::with_blocks(stmt, std::move(body), {});
  }

  const Block& body_;
  std::map<std::string, Variable> variables_;
  std::vector<std::string> names_;
  std::set<std::string> ambiguous_;
  std::optional<Liveness> liveness_;
  Block after_;
};

}  // namespace

Block without_induction_variables(const source::Kernel& kernel) {
  return InductionRemover(kernel).remove();
}

}  // namespace regraph::rewrite
