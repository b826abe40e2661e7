#include "rewrite/transform/trip_count_trimming.h"

#include "affine/constraints.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/match.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>

namespace regraph::rewrite {

namespace {

// What statements do where some conditions are known.
class IdleCheck {
 public:
  IdleCheck(const Analysis& analysis, const Constraints& known)
      : analysis_(analysis), known_(known) {}

  bool is_idle(const Block& block) const {
    return std::ranges::all_of(block, [&](const StmtPtr& stmt) { return is_idle(*stmt); });
  }

 private:
  enum class Outcome { open, holds, fails };

  bool is_idle(const Stmt& stmt) const {
    if (const auto* branch = as<Branch>(stmt)) {
      const Outcome outcome = outcome_of(branch->condition);
      return (outcome == Outcome::fails || is_idle(branch->body)) &&
             (outcome == Outcome::holds || is_idle(branch->otherwise));
    }
    if (const auto* assignment = as<Assignment>(stmt)) return adds_zero(*assignment);
    if (const auto* loop = as<ForLoop>(stmt)) return is_idle(loop->body);
    if (const auto* scope = as<Scope>(stmt)) return is_idle(scope->body);
    return is<Declaration>(stmt);
  }

  bool adds_zero(const Assignment& assignment) const {
    const auto added = added_term(assignment);
    return is<VariableReference>(assignment.target) && added && number_of(added->term) == 0.0;
  }

  Outcome outcome_of(const ExprPtr& condition) const {
    bool all_hold = true;
    for (const ExprPtr& term : conjuncts(condition)) {
      if (known_.refutes(term, analysis_)) return Outcome::fails;
      all_hold = all_hold && known_.proves(term, analysis_);
    }
    return all_hold ? Outcome::holds : Outcome::open;
  }

  // The value, where it is a small whole number whatever is in memory: no arithmetic rounds it.
  std::optional<double> number_of(const ExprPtr& expr) const {
    if (const auto* literal = as<IntegerLiteral>(expr))
      return small(static_cast<double>(literal->value));
    if (const auto* literal = as<FloatingLiteral>(expr))
      return small(std::strtod(literal->spelling.c_str(), nullptr));
    if (const ExprPtr inner = converted(expr)) return expr->type ? number_of(inner) : std::nullopt;
    if (const auto* variable = as<VariableReference>(expr)) {
      const ExprPtr definition = analysis_.definition(variable->name);
      const bool is_value = definition && analysis_.loop(variable->name) == nullptr;
      return is_value ? number_of(definition) : std::nullopt;
    }
    if (const auto* choice = as<Conditional>(expr)) return number_of_choice(*choice);
    if (const auto* member = as<Member>(expr)) return number_of_member(*member);
    if (const auto* minus = as_unary(expr, UnaryOperator::minus)) {
      const auto value = number_of(minus->operand);
      return value ? std::optional(-*value) : std::nullopt;
    }
    const auto* binary = as<Binary>(expr);
    const auto left = binary != nullptr ? number_of(binary->left) : std::nullopt;
    const auto right = left ? number_of(binary->right) : std::nullopt;
    if (!right) return std::nullopt;
    switch (binary->op) {
      case BinaryOperator::add:
        return small(*left + *right);
      case BinaryOperator::subtract:
        return small(*left - *right);
      case BinaryOperator::multiply:
        return small(*left * *right);
      default:
        return std::nullopt;
    }
  }

  std::optional<double> number_of_choice(const Conditional& choice) const {
    const Outcome outcome = outcome_of(choice.condition);
    if (outcome == Outcome::holds) return number_of(choice.then);
    if (outcome == Outcome::fails) return number_of(choice.otherwise);
    const auto one = number_of(choice.then);
    return one && one == number_of(choice.otherwise) ? one : std::nullopt;
  }

  // (k < n ? a[k] : make_float4(0, 0, 0, 0)).x
  std::optional<double> number_of_member(const Member& member) const {
    ExprPtr object = member.object;
    while (true) {
      const auto* variable = as<VariableReference>(object);
      const auto* choice = as<Conditional>(object);
      ExprPtr inner;
      if (variable != nullptr) inner = analysis_.definition(variable->name);
      if (choice != nullptr) {
        const Outcome outcome = outcome_of(choice->condition);
        if (outcome == Outcome::holds) inner = choice->then;
        if (outcome == Outcome::fails) inner = choice->otherwise;
      }
      if (!inner) break;
      object = inner;
    }
    const auto* call = as<Call>(object);
    const std::size_t at = std::string_view("xyzw").find(member.name);
    const bool makes = call != nullptr && call->function.starts_with("make_") &&
                       member.name.size() == 1 && at < call->arguments.size();
    return makes ? number_of(call->arguments[at]) : std::nullopt;
  }

  static std::optional<double> small(double value) {
    constexpr double kMost = 256;  // exact in bfloat16, too
    const bool is_whole = value == static_cast<double>(static_cast<int>(value));
    return is_whole && value <= kMost && value >= -kMost ? std::optional(value) : std::nullopt;
  }

  const Analysis& analysis_;
  const Constraints& known_;
};

class EndMover final : public Mutator {
 public:
  EndMover(const Kernel& kernel, const std::map<std::string, Polynomial>& depths)
      : analysis_(kernel), depths_(depths) {}

 private:
  using Mutator::mutate;

  StmtPtr mutate(const StmtPtr& stmt, const ForLoop& loop) override {
    StmtPtr inner = Mutator::mutate(stmt, loop);
    const auto counted = counted_loop_of(loop);
    const auto depth = counted ? depths_.find(counted->name) : depths_.end();
    if (depth == depths_.end()) return inner;
    Constraints known;
    known.add_symbol(counted->name);
    known.add(Polynomial::symbol(counted->name) - depth->second);
    if (!IdleCheck(analysis_, known).is_idle(loop.body)) return inner;
    auto result = std::make_shared<ForLoop>(to<ForLoop>(inner));
    result->condition = less(source::variable(counted->name, loop.declaration()->variable.scalar),
                             to_expression(depth->second));
    return result;
  }

  const Analysis analysis_;
  const std::map<std::string, Polynomial>& depths_;
};

}  // namespace

Block with_trimmed_trip_counts(const Kernel& kernel,
                               const std::map<std::string, Polynomial>& depths) {
  return EndMover(kernel, depths).run(kernel.body);
}

}  // namespace regraph::rewrite
