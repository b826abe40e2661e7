#include "rewrite/forms/counted_loops.h"

#include "source/build.h"
#include "source/match.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>

namespace regraph::rewrite {

using source::as;
using source::Assignment;
using source::AssignmentOperator;
using source::BinaryOperator;
using source::Block;
using source::Branch;
using source::ExprPtr;
using source::ForLoop;
using source::is;
using source::Jump;
using source::StmtPtr;
using source::VariableReference;
using source::WhileLoop;

namespace {

bool is_break(const StmtPtr& stmt) {
  const auto* jump = as<Jump>(stmt);
  return jump != nullptr && jump->jump == source::JumpKind::break_loop;
}

// Whether a jump or return in the block, not of an inner loop, leaves it.
bool leaves(const Block& block) {
  return std::any_of(block.begin(), block.end(), [](const StmtPtr& stmt) {
    if (is<Jump>(stmt) || is<source::Return>(stmt)) return true;
    if (is<ForLoop>(stmt) || is<WhileLoop>(stmt)) {
      bool returns = false;
      source::walk(Block{stmt}, [&](const source::Stmt& inner) {
        returns = returns || is<source::Return>(inner);
      });
      return returns;
    }
    return leaves(body_of(*stmt)) || leaves(otherwise_of(*stmt));
  });
}

// x += v for x = x + v, likewise -; the statement itself where it is an assignment with one of
// them, null for any other.
StmtPtr as_advance(const StmtPtr& stmt) {
  const auto* assignment = as<Assignment>(stmt);
  const auto* target = assignment != nullptr ? as<VariableReference>(assignment->target) : nullptr;
  if (target == nullptr) return nullptr;
  AssignmentOperator op = assignment->op;
  ExprPtr value = assignment->value;
  if (op == AssignmentOperator::assign) {
    const auto itself = source::named(target->name);
    ExprPtr step;
    if (matches(value, source::operation(BinaryOperator::add, itself, source::any(step))) ||
        matches(value, source::operation(BinaryOperator::add, source::any(step), itself))) {
      op = AssignmentOperator::add;
    } else if (matches(value,
                       source::operation(BinaryOperator::subtract, itself, source::any(step)))) {
      op = AssignmentOperator::subtract;
    } else {
      return nullptr;
    }
    value = step;
  }
  const bool advances = op == AssignmentOperator::add || op == AssignmentOperator::subtract;
  if (!advances || source::variables_of(value).contains(target->name)) return nullptr;
  auto result = std::make_shared<Assignment>(assignment->target, op, std::move(value));
  result->line = stmt->line;
  return result;
}

class HeaderMaker final : public source::Mutator {
 private:
  using Mutator::mutate;

  StmtPtr mutate(const StmtPtr& stmt, const WhileLoop& loop) override {
    StmtPtr inner = Mutator::mutate(stmt, loop);
    const auto& repeat = source::to<WhileLoop>(inner);
    if (repeat.asks_last) return inner;
    const bool is_endless = source::is_number(repeat.condition, 1);
    return with_header(inner, is_endless ? nullptr : repeat.condition, ForLoop({}, {}, {}, {}));
  }

  StmtPtr mutate(const StmtPtr& stmt, const ForLoop& loop) override {
    StmtPtr inner = Mutator::mutate(stmt, loop);
    const auto& repeat = source::to<ForLoop>(inner);
    if (repeat.init || repeat.step) return inner;
    return with_header(inner, repeat.condition, repeat);
  }

  // `header`: of a loop that has neither first value nor step.
  static StmtPtr with_header(const StmtPtr& loop, ExprPtr condition, ForLoop header) {
    Block body = body_of(*loop);
    if (!condition && !body.empty()) {
      const auto* branch = as<Branch>(body.front());
      const bool asks = branch != nullptr && branch->otherwise.empty() &&
                        branch->body.size() == 1 && is_break(branch->body.front());
      if (!asks) return loop;
      condition = source::negate(branch->condition);
      body.erase(body.begin());
    }
    if (!condition || body.empty()) return loop;
    StmtPtr step = as_advance(body.back());
    if (!step) return loop;
    body.pop_back();
    const std::string& counter = source::to<VariableReference>(target_of(*step)).name;
    const std::set<std::string> declared = source::declared_names(body);
    const std::set<std::string> advanced_by = source::variables_of(value_of(*step));
    const bool is_in_scope =
        std::none_of(advanced_by.begin(), advanced_by.end(),
                     [&](const std::string& name) { return declared.contains(name); });
    if (!is_in_scope || declared.contains(counter) || leaves(body) ||
        !source::variables_of(condition).contains(counter)) {
      return loop;
    }
    auto result = std::make_shared<ForLoop>(std::move(header));
    result->condition = std::move(condition);
    result->step = std::move(step);
    result->body = std::move(body);
    result->line = loop->line;
    return result;
  }
};

}  // namespace

Block with_counted_loops(const Block& body) {
  return HeaderMaker().run(body);
}

}  // namespace regraph::rewrite
