#include "rewrite/forms/dead_guards.h"

#include "affine/block_geometry.h"
#include "affine/constraints.h"
#include "affine/index_range.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/match.h"
#include "source/mutator.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

class GuardDropper final : public Mutator {
 public:
  explicit GuardDropper(const Kernel& kernel) : analysis_(kernel) {}

  void know_threads_of(const Dim3& block) {
    for (int axis = 0; axis < 3; ++axis) {
      const Polynomial index = Polynomial::symbol(std::string("threadIdx.") + kAxes[axis]);
      known_.add(Polynomial(std::int64_t{extent(block, axis)} - 1) - index);
    }
  }

  using Mutator::run;
  // What leaves the kernel where a condition holds leaves the rest where it does not.
  [[nodiscard]] Block run(const Block& block) override {
    Constraints outer = known_;
    Block result = Mutator::run(block);
    known_ = std::move(outer);
    return result;
  }

 private:
  using Mutator::mutate;

  enum class Outcome { open, holds, fails };
  struct Answer {
    Outcome outcome = Outcome::open;
    ExprPtr condition;  // what is left to be asked
  };

  // The condition without the terms that hold.
  Answer answer(const ExprPtr& condition) const {
    std::vector<ExprPtr> open;
    const std::vector<ExprPtr> terms = conjuncts(condition);
    for (const ExprPtr& term : terms) {
      if (known_.refutes(term, analysis_)) return {Outcome::fails, nullptr};
      if (!known_.proves(term, analysis_)) open.push_back(term);
    }
    if (open.empty()) return {Outcome::holds, nullptr};
    return {Outcome::open, open.size() == terms.size() ? condition : conjunction(open)};
  }

  // Does what `inside` does with the condition known to hold.
  template <typename Inside>
  auto under(const ExprPtr& condition, const Inside& inside) {
    Constraints outer = known_;
    known_.add_condition(condition, analysis_);
    auto result = inside();
    known_ = std::move(outer);
    return result;
  }

  void append(const StmtPtr& stmt, Block& out) override {
    const auto* branch = as<Branch>(stmt);
    if (branch == nullptr) {
      out.push_back(run(stmt));
      return;
    }
    const Answer known = answer(branch->condition);
    if (known.outcome != Outcome::open) {
      Block taken = run(known.outcome == Outcome::holds ? branch->body : branch->otherwise);
      if (!taken.empty()) out.push_back(scope(std::move(taken)));
      return;
    }
    const ExprPtr condition = run(known.condition);
    Block body = under(branch->condition, [&] { return run(branch->body); });
    Block otherwise = under(negate(branch->condition), [&] { return run(branch->otherwise); });
    if (condition == branch->condition && body == branch->body && otherwise == branch->otherwise) {
      out.push_back(stmt);
    } else {
      out.push_back(source::branch(condition, std::move(body), std::move(otherwise), branch->line));
    }
    const bool leaves = !branch->body.empty() && is<Return>(branch->body.back());
    if (leaves && branch->otherwise.empty())
      known_.add_condition(negate(branch->condition), analysis_);
  }

  ExprPtr mutate(const ExprPtr& expr, const Conditional& choice) override {
    const Answer known = answer(choice.condition);
    if (known.outcome == Outcome::holds && choice.then->type == expr->type) return run(choice.then);
    if (known.outcome == Outcome::fails && choice.otherwise->type == expr->type)
      return run(choice.otherwise);
    if (known.outcome != Outcome::open) return Mutator::mutate(expr, choice);
    const ExprPtr condition = run(known.condition);
    ExprPtr then = under(choice.condition, [&] { return run(choice.then); });
    ExprPtr otherwise = under(negate(choice.condition), [&] { return run(choice.otherwise); });
    if (condition == choice.condition && then == choice.then && otherwise == choice.otherwise)
      return expr;
    return std::make_shared<Conditional>(condition, std::move(then), std::move(otherwise),
                                         choice.type);
  }

  // A value that is below what it is divided by anyway.
  ExprPtr mutate(const ExprPtr& expr, const Binary& binary) override {
    const bool divides =
        binary.op == BinaryOperator::remainder || binary.op == BinaryOperator::divide;
    const auto value = divides ? quotient_of(binary.left) : std::optional<Quotient>();
    const auto limit = value ? analysis_.polynomial(binary.right) : std::nullopt;
    const bool is_below = limit && known_.proves(value->dividend) &&
                          known_.proves(*limit * value->divisor - Polynomial(1) - value->dividend);
    if (!is_below || !expr->type) return Mutator::mutate(expr, binary);
    ExprPtr whole = binary.op == BinaryOperator::remainder ? run(binary.left) : ExprPtr(integer(0));
    if (whole->type == expr->type) return whole;
    return with_type(source::cast(std::string(cuda_name(*expr->type)), whole), expr->type);
  }

  // A value that is at most dividend / divisor, signs aside.
  struct Quotient {
    Polynomial dividend;
    Polynomial divisor;
  };

  std::optional<Quotient> quotient_of(const ExprPtr& value) const {
    if (!is_index_type(value->type)) return std::nullopt;
    if (auto whole = analysis_.polynomial(value)) return Quotient{std::move(*whole), Polynomial(1)};
    if (const auto* variable = as<VariableReference>(value)) {
      const ExprPtr definition = analysis_.definition(variable->name);
      return definition ? quotient_of(definition) : std::nullopt;
    }
    if (const auto* cast = as<Cast>(value)) return quotient_of(cast->operand);
    const auto* binary = as_binary(value, BinaryOperator::divide);
    auto quotient = binary != nullptr ? quotient_of(binary->left) : std::nullopt;
    const auto divisor = quotient ? analysis_.polynomial(binary->right) : std::nullopt;
    if (!divisor) return std::nullopt;
    quotient->divisor = quotient->divisor * *divisor;
    return quotient;
  }

  StmtPtr mutate(const StmtPtr& stmt, const ForLoop& loop) override {
    const auto counted = counted_loop_of(loop);
    if (!counted || analysis_.loop(counted->name) == nullptr) return Mutator::mutate(stmt, loop);
    Constraints outer = known_;
    known_.add_loop(*counted, analysis_);
    Block body = run(loop.body);
    known_ = std::move(outer);
    return with_blocks(stmt, std::move(body), {});
  }

  const Analysis analysis_;
  Constraints known_;
};

}  // namespace

Block without_dead_guards(const Kernel& kernel) {
  return GuardDropper(kernel).run(kernel.body);
}

Block without_dead_guards(const Kernel& kernel, const Dim3& block) {
  GuardDropper dropper(kernel);
  dropper.know_threads_of(block);
  return dropper.run(kernel.body);
}

}  // namespace regraph::rewrite
