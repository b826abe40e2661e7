#include "rewrite/forms/rebased_counters.h"

#include "rewrite/forms/exact_values.h"
#include "source/build.h"
#include "source/match.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace regraph::rewrite {

namespace {

// A header without what is the thread's own.
struct Rebased {
  ExprPtr base;  // what the counter is more than the new one
  ExprPtr first;
  ExprPtr limit;
};

class CounterRebaser final : public Mutator {
 public:
  explicit CounterRebaser(const Kernel& kernel)
      : kernel_(kernel), analysis_(kernel), taken_(used_names(kernel)) {}

 private:
  using Mutator::mutate;

  StmtPtr mutate(const StmtPtr& stmt, const ForLoop& loop) override {
    const auto rebased = rebase(loop);
    StmtPtr inner = Mutator::mutate(stmt, loop);
    if (!rebased) return inner;
    const auto& repeat = source::to<ForLoop>(inner);
    Variable counter = loop.declaration()->variable;
    Variable number = counter;
    number.name = next_name();
    const ExprPtr count = source::variable(number.name, number.scalar);
    auto result = std::make_shared<ForLoop>(repeat);
    result->init = declare(number, rebased->first);
    result->condition = source::less(count, rebased->limit);
    result->step = assign(count, AssignmentOperator::add, value_of(*repeat.step));
    counter.is_const = true;
    result->body.insert(result->body.begin(), declare(counter, source::add(rebased->base, count)));
    return result;
  }

  std::optional<Rebased> rebase(const ForLoop& loop) const {
    const Declaration* counter = loop.declaration();
    const auto* step = loop.advance();
    // In as many bits as ints, and signed: first value and limit are compared as numbers.
    if (counter == nullptr || counter->variable.scalar != ScalarType::i32 || !counter->value ||
        counter->value->type != ScalarType::i32 || step == nullptr ||
        step->op != AssignmentOperator::add) {
      return std::nullopt;
    }
    const std::string& name = counter->variable.name;
    ExprPtr end;
    const auto below = operation(BinaryOperator::less, named(name), any(end));
    if (!matches(loop.condition, below) || end->type != ScalarType::i32 || is_changed(name, loop) ||
        holds_barrier(loop)) {
      return std::nullopt;
    }
    const auto first = exact_value(counter->value, kernel_, analysis_);
    const auto limit = first ? exact_value(end, kernel_, analysis_) : std::nullopt;
    if (!limit || !stays_fixed(*first, loop) || !stays_fixed(*limit, loop)) return std::nullopt;
    const Polynomial base = own_part(*first, *limit);
    if (base.is_zero()) return std::nullopt;
    const Polynomial from = *first - base;
    const Polynomial to = *limit - base;
    if (!is_simple(from) || !is_simple(to)) return std::nullopt;
    const ExprPtr common = from.is_zero() ? counter->value : term_of(counter->value, base);
    if (!common) return std::nullopt;
    return Rebased{common, to_expression(from), to_expression(to)};
  }

  // Threads that wait for each other in a loop go through strips that they share: those stay where
  // the copies of the strips are made by their counter.
  static bool holds_barrier(const ForLoop& loop) {
    return any_statement(loop.body, [&](const Stmt& stmt) { return is<Barrier>(stmt); });
  }

  // The terms that both have and that are neither parameters nor counters of loops around: nothing
  // where there are only such.
  [[nodiscard]] Polynomial own_part(const Polynomial& first, const Polynomial& limit) const {
    Polynomial result;
    bool is_own = false;
    for (const auto& [monomial, factor] : first.terms()) {
      const auto other = limit.terms().find(monomial);
      if (monomial.empty() || other == limit.terms().end() || other->second != factor) continue;
      Polynomial term(factor);
      for (const std::string& name : monomial) {
        term = term * Polynomial::symbol(name);
        is_own = is_own || (kernel_.parameter(name) == nullptr && analysis_.loop(name) == nullptr);
      }
      result = result + term;
    }
    return is_own ? result : Polynomial();
  }

  // A number, or one symbol: nothing that could be larger than an int where the rest is not.
  static bool is_simple(const Polynomial& value) {
    if (value.constant()) return true;
    return value.terms().size() == 1 && value.terms().begin()->second == 1 &&
           value.terms().begin()->first.size() == 1;
  }

  // The part of a sum that has the value; null where no part is that alone.
  ExprPtr term_of(const ExprPtr& sum, const Polynomial& wanted) const {
    const auto value = exact_value(sum, kernel_, analysis_);
    if (value && *value == wanted && sum->type == ScalarType::i32) return sum;
    const auto* binary = as_binary(sum, BinaryOperator::add);
    if (binary == nullptr) {
      const auto* variable = as<VariableReference>(sum);
      const ExprPtr definition =
          variable != nullptr ? analysis_.definition(variable->name) : nullptr;
      return definition ? term_of(definition, wanted) : nullptr;
    }
    const ExprPtr left = term_of(binary->left, wanted);
    return left ? left : term_of(binary->right, wanted);
  }

  static bool is_changed(const std::string& name, const ForLoop& loop) {
    bool found = false;
    walk(loop.body, [&](const Stmt& stmt) {
      const auto* place = target_of(stmt) ? place_variable(*target_of(stmt)) : nullptr;
      found = found || (place != nullptr && place->name == name);
      walk_own_expressions(stmt, [&](const Expr& expr) {
        for_each_passed_place(expr, [&](const Expr& given) {
          const auto* variable = place_variable(given);
          found = found || (variable != nullptr && variable->name == name);
        });
      });
    });
    return found;
  }

  // Whether nothing that the value is made of is given another value.
  bool stays_fixed(const Polynomial& value, const ForLoop& loop) const {
    const std::set<std::string> symbols = value.symbols();
    return std::all_of(symbols.begin(), symbols.end(), [&](const std::string& name) {
      return name.find('.') != std::string::npos ||
             (name != loop.declaration()->variable.name && is_steady(name, kernel_, analysis_));
    });
  }

  std::string next_name() {
    std::string name = "k";
    for (int number = 2; !taken_.insert(name).second; ++number)
      name = "k_" + std::to_string(number);
    return name;
  }

  const Kernel& kernel_;
  const Analysis analysis_;
  std::set<std::string> taken_;
};

}  // namespace

Block with_rebased_counters(const Kernel& kernel) {
  return CounterRebaser(kernel).run(kernel.body);
}

}  // namespace regraph::rewrite
