#include "rewrite/forms/counted_loops.h"

#include "rewrite/forms/advance.h"
#include "rewrite/forms/uses.h"
#include "source/build.h"
#include "source/match.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

// Whether a loop goes on behind the statement, which leaves it in the other case and does nothing
// else: !c of `if (c) break;`. Null for others.
ExprPtr asked_to_go_on(const StmtPtr& stmt) {
  const auto* branch = as<Branch>(stmt);
  const bool is_plain = branch != nullptr && branch->otherwise.empty() && branch->body.size() == 1;
  const auto* jump = is_plain ? as<Jump>(branch->body.front()) : nullptr;
  const bool leaves = jump != nullptr && jump->jump == JumpKind::break_loop;
  return leaves ? negate(branch->condition) : nullptr;
}

// Whether a jump or return in the block, not of an inner loop, leaves it.
bool leaves(const Block& block) {
  return std::any_of(block.begin(), block.end(), [](const StmtPtr& stmt) {
    if (is<Jump>(stmt) || is<Return>(stmt)) return true;
    if (is<ForLoop>(stmt) || is<WhileLoop>(stmt)) {
      return any_statement(Block{stmt}, [&](const Stmt& inner) { return is<Return>(inner); });
    }
    return leaves(body_of(*stmt)) || leaves(otherwise_of(*stmt));
  });
}

// x += v for all ways to say it, likewise -; null for other statements.
StmtPtr as_advance(const StmtPtr& stmt) {
  const auto advance = advance_of(*stmt);
  if (!advance || mentions_of(advance->name, advance->step) > 0) return nullptr;
  const auto op = advance->is_backwards ? AssignmentOperator::subtract : AssignmentOperator::add;
  auto result = std::make_shared<Assignment>(target_of(*stmt), op, advance->step);
  result->line = stmt->line;
  return result;
}

// Whether the value, which calls nothing, stays what it is while the body of a loop is done.
bool stays_during(const ExprPtr& value, const Block& body) {
  bool calls = false;
  walk_expressions(body, [&](const Expr& part) {
    const auto* call = as<Call>(part);
    calls = calls || is<OpaqueExpression>(part) ||
            (call != nullptr && call->effect != CallEffect::pure);
  });
  bool writes_memory = false;
  for_each_changed_place(body, [&](const Expr& place) {
    writes_memory = writes_memory || !is<VariableReference>(place);
  });
  const std::set<std::string> changed = changed_names(body);
  bool stays = !calls;
  walk(value, [&](const Expr& part) {
    const auto* variable = as<VariableReference>(part);
    const bool reads = is<Subscript>(part) || is<Member>(part);
    stays = stays && !(reads && writes_memory) && !is<Call>(part) && !is<OpaqueExpression>(part) &&
            (variable == nullptr || !changed.contains(variable->name));
  });
  return stays;
}

class HeaderMaker final : public Mutator {
 public:
  explicit HeaderMaker(const Block& body) {
    walk(body, [&](const Stmt& stmt) {
      if (const auto* declaration = as<Declaration>(stmt))
        ++declarations_[declaration->variable.name];
    });
  }
  using Mutator::run;

 private:
  using Mutator::mutate;

  void append(const StmtPtr& stmt, Block& out) override {
    const auto* loop = as<ForLoop>(stmt);
    StmtPtr other = loop != nullptr ? with_asked_counter(*loop) : nullptr;
    if (!other) {
      out.push_back(run(stmt));
      return;
    }
    // In front of the loop its name has to be its own.
    Variable counter = loop->declaration()->variable;
    const std::string name = counter.name;
    if (declarations_[name] > 1) {
      for (int number = 2; declarations_.contains(counter.name); ++number)
        counter.name = name + "_" + std::to_string(number);
      declarations_[counter.name] = 1;
      --declarations_[name];
      other = rewrite_expressions(
                  {other}, replace_variable(name, source::variable(counter.name, counter.scalar)))
                  .front();
    }
    out.push_back(declare(counter, loop->declaration()->value));
    out.push_back(run(other));
  }

  // for (int b = ..; a < n; b += d) { ..; a += c; }  ->  int b = ..; for (; a < n; a += c) { ..; b
  // += d; } Null for other loops.
  StmtPtr with_asked_counter(const ForLoop& loop) const {
    const Declaration* init = loop.declaration();
    if (init == nullptr || !loop.step || !loop.condition || loop.body.size() < 2) return nullptr;
    const StmtPtr step = as_advance(loop.body.back());
    const std::string& kept = init->variable.name;
    const std::set<std::string> asked = variables_of(loop.condition);
    if (!step || asked.contains(kept)) return nullptr;
    const std::string asked_first = as_name(target_of(*step));
    Block body = loop.body;
    body.pop_back();
    const std::set<std::string> changed = changed_names(body);
    const std::set<std::string> own = declared_names(body);
    const std::set<std::string> by = variables_of(value_of(*step));
    const std::set<std::string> others = variables_of(value_of(*loop.step));
    const bool is_alone = asked.contains(asked_first) && !changed.contains(asked_first) &&
                          !by.contains(kept) && !others.contains(asked_first);
    const bool is_in_scope =
        std::none_of(by.begin(), by.end(), [&](const auto& name) { return own.contains(name); });
    if (!is_alone || !is_in_scope || leaves(body)) return nullptr;
    body.push_back(loop.step);
    auto result = std::make_shared<ForLoop>(loop);
    result->init = nullptr;
    result->step = step;
    result->body = std::move(body);
    return result;
  }

  StmtPtr mutate(const StmtPtr& stmt, const WhileLoop& loop) override {
    StmtPtr inner = Mutator::mutate(stmt, loop);
    const auto& repeat = to<WhileLoop>(inner);
    if (repeat.asks_last) return inner;
    const bool is_endless = is_number(repeat.condition, 1);
    return with_header(inner, is_endless ? nullptr : repeat.condition, ForLoop({}, {}, {}, {}));
  }

  StmtPtr mutate(const StmtPtr& stmt, const ForLoop& loop) override {
    StmtPtr inner = Mutator::mutate(stmt, loop);
    const auto& repeat = to<ForLoop>(inner);
    if (repeat.init || repeat.step) return with_order(inner, repeat);
    return with_header(inner, repeat.condition, repeat);
  }

  // i < n for i != n, of a signed counter that goes up by one to a limit that stays: beyond it the
  // counter would overflow, which no program may do.
  static StmtPtr with_order(const StmtPtr& stmt, const ForLoop& loop) {
    const auto* differs = as<Binary>(loop.condition);
    const Declaration* counter = loop.declaration();
    if (differs == nullptr || differs->op != BinaryOperator::not_equal || counter == nullptr)
      return stmt;
    const std::string& name = counter->variable.name;
    const auto type = counter->variable.scalar;
    const bool is_signed = type == ScalarType::i32 || type == ScalarType::i64;
    const auto* step = loop.step ? as<Assignment>(loop.step) : nullptr;
    const bool counts = step != nullptr && step->op == AssignmentOperator::add &&
                        is_number(step->value, 1) && as_name(step->target) == name;
    const bool is_left = as_name(differs->left) == name;
    const ExprPtr& limit = is_left ? differs->right : differs->left;
    // One that is left on the way may begin beyond its limit.
    if (!is_signed || !counts || leaves(loop.body) || (!is_left && as_name(differs->right) != name))
      return stmt;
    if (mentions_of(name, limit) > 0 || changes_of(name, loop.body) > 0 ||
        !stays_during(limit, loop.body)) {
      return stmt;
    }
    auto result = std::make_shared<ForLoop>(loop);
    result->condition = source::less(source::variable(name, type), limit);
    return result;
  }

  // if (i >= n) break; rest   ->   if (i < n) { rest }
  // where i goes up and n stays: where i is too large once, it is from then on.
  static Block with_guards_for_exits(Block body, const StmtPtr& advance) {
    const auto& step = to<Assignment>(advance);
    const auto* by = as<IntegerLiteral>(step.value);
    // By more than one it could go beyond the largest number.
    if (step.op != AssignmentOperator::add || by == nullptr || by->value != 1) return body;
    const std::string counter = as_name(step.target);
    std::vector<ExprPtr> guards;
    std::size_t at = 0;
    for (; at < body.size(); ++at) {
      const ExprPtr stays = asked_to_go_on(body[at]);
      if (!stays) break;
      const auto* order = as<Binary>(stays);
      const bool is_order = order != nullptr && (order->op == BinaryOperator::less ||
                                                 order->op == BinaryOperator::less_equal);
      if (!is_order || as_name(order->left) != counter) return body;
      guards.push_back(stays);
    }
    if (guards.empty()) return body;
    Block rest(body.begin() + static_cast<std::ptrdiff_t>(at), body.end());
    const std::set<std::string> changed = changed_names(rest);
    for (const ExprPtr& guard : guards)
      if (!is_kept(guard, changed)) return body;
    return {source::branch(conjunction(guards), std::move(rest))};
  }

  static std::string as_name(const ExprPtr& expr) {
    const auto* variable = as<VariableReference>(expr);
    return variable != nullptr ? variable->name : "";
  }

  // `header`: of a loop that has neither first value nor step.
  static StmtPtr with_header(const StmtPtr& loop, ExprPtr condition, ForLoop header) {
    Block body = body_of(*loop);
    if (!condition && !body.empty()) {
      condition = asked_to_go_on(body.front());
      if (!condition) return loop;
      body.erase(body.begin());
    }
    if (!condition || body.empty()) return loop;
    StmtPtr step = as_advance(body.back());
    if (!step) return loop;
    body.pop_back();
    const std::string& counter = to<VariableReference>(target_of(*step)).name;
    body = with_guards_for_exits(std::move(body), step);
    const std::set<std::string> declared = declared_names(body);
    const std::set<std::string> advanced_by = variables_of(value_of(*step));
    const bool is_in_scope =
        std::none_of(advanced_by.begin(), advanced_by.end(),
                     [&](const std::string& name) { return declared.contains(name); });
    if (!is_in_scope || declared.contains(counter) || leaves(body) ||
        !variables_of(condition).contains(counter)) {
      return loop;
    }
    auto result = std::make_shared<ForLoop>(std::move(header));
    result->condition = std::move(condition);
    result->step = std::move(step);
    result->body = std::move(body);
    result->line = loop->line;
    return result;
  }

  std::map<std::string, int> declarations_;
};

}  // namespace

Block with_counted_loops(const Block& body) {
  return HeaderMaker(body).run(body);
}

}  // namespace regraph::rewrite
