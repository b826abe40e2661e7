// reciprocal_division: quotients by a value that stays the same become products with its
// reciprocal.
//
//   for (i) y[i] = x[i] / sum;   ->   const float sum_inverse = 1.0f / sum;  for (i) y[i] = x[i] * sum_inverse;
//
// A division that rounds correctly takes ten instructions and a branch, a product one. The
// reciprocal and the product round once each where the quotient rounds once: as much as a sum of as
// few terms may change in another order, and it needs the same leave, `reassociate`.
//
// Legal for floating-point divisors that nothing changes where the reciprocal is used: in loops
// that leave them as they are, and behind the declaration of one that is never changed.
#include "rewrite/forms/names.h"
#include "rewrite/forms/uses.h"
#include "rewrite/steps/step_rewriter.h"
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
#include <vector>

namespace regraph::rewrite {
namespace {

bool is_kept_by_product(const ExprPtr& numerator, ScalarType type) {
  return numerator->type == type || (numerator->type && !is_floating(*numerator->type));
}

// What the expression divides by; null where it is no quotient of floating-point numbers that a
// product could replace.
ExprPtr divisor_of(const Expr& expr) {
  const auto* quotient = as<Binary>(expr);
  const bool suits = quotient != nullptr && quotient->op == BinaryOperator::divide && expr.type &&
                     is_floating(*expr.type) && size_in_bytes(*expr.type) >= sizeof(float) &&
                     quotient->right->type == expr.type &&
                     is_kept_by_product(quotient->left, *expr.type);
  return suits ? quotient->right : nullptr;
}

// The same of x /= s.
ExprPtr divisor_of(const Assignment& assignment) {
  const auto type = assignment.target->type;
  const bool suits = assignment.op == AssignmentOperator::divide && type && is_floating(*type) &&
                     size_in_bytes(*type) >= sizeof(float) && assignment.value->type == type;
  return suits ? assignment.value : nullptr;
}

bool is_literal(const ExprPtr& expr) {
  return is<FloatingLiteral>(expr) || is<IntegerLiteral>(expr);
}

class DivisionInverter final : public Mutator {
 public:
  DivisionInverter(const Kernel& kernel, const Analysis& analysis)
      : analysis_(analysis), names_(kernel) {}
  using Mutator::run;

  bool changed = false;

  Block run(const Block& block) override {
    const std::size_t known = reciprocals_.size();
    Block result;
    for (std::size_t at = 0; at < block.size(); ++at) {
      const StmtPtr& stmt = block[at];
      if (is_loop(*stmt)) {
        add_loop(stmt, result);
        continue;
      }
      result.push_back(run(stmt));
      const auto* declared = as<Declaration>(stmt);
      if (declared == nullptr) continue;
      const Block rest(block.begin() + static_cast<std::ptrdiff_t>(at) + 1, block.end());
      if (is_fixed_divisor(*declared, rest)) {
        result.push_back(declare_reciprocal(
            source::variable(declared->variable.name, declared->variable.scalar)));
      }
    }
    reciprocals_.resize(known);
    return result;
  }

 private:
  using Mutator::mutate;

  struct Reciprocal {
    ExprPtr divisor;
    ExprPtr value;
  };

  static bool is_loop(const Stmt& stmt) { return is<ForLoop>(stmt) || is<WhileLoop>(stmt); }

  ExprPtr mutate(const ExprPtr& expr, const Binary& binary) override {
    const ExprPtr divisor = divisor_of(*expr);
    const Reciprocal* reciprocal = divisor ? reciprocal_of(divisor) : nullptr;
    if (reciprocal == nullptr) return Mutator::mutate(expr, binary);
    changed = true;
    return with_type(source::multiply(run(binary.left), reciprocal->value), expr->type);
  }

  StmtPtr mutate(const StmtPtr& stmt, const Assignment& assignment) override {
    const ExprPtr divisor = divisor_of(assignment);
    const Reciprocal* reciprocal = divisor ? reciprocal_of(divisor) : nullptr;
    if (reciprocal == nullptr) return Mutator::mutate(stmt, assignment);
    changed = true;
    auto result = std::make_shared<Assignment>(assignment);
    result->target = run(assignment.target);
    result->op = AssignmentOperator::multiply;
    result->value = reciprocal->value;
    return result;
  }

  // The loop, with reciprocals of what it leaves as it is in front of it.
  void add_loop(const StmtPtr& loop, Block& out) {
    const std::size_t known = reciprocals_.size();
    const std::set<std::string> given = given_values_in({loop});
    for_each_quotient({loop}, [&](const ExprPtr& divisor, const ExprPtr& numerator) {
      const bool is_same = is_kept(divisor, given) && is_computation(divisor);
      // A quotient that is the same each time round is computed once as it is.
      const bool varies = !numerator || !is_kept(numerator, given);
      if (is_same && varies && !is_literal(divisor) && reciprocal_of(divisor) == nullptr)
        out.push_back(declare_reciprocal(divisor));
    });
    out.push_back(run(loop));
    reciprocals_.resize(known);
  }

  // Whether a variable that keeps its value is divided by more than once.
  bool is_fixed_divisor(const Declaration& declared, const Block& rest) const {
    const Variable& variable = declared.variable;
    const bool is_fixed = variable.scalar && is_floating(*variable.scalar) && declared.value &&
                          analysis_.is_single_definition(variable.name);
    if (!is_fixed || is_literal(declared.value)) return false;
    int quotients = 0;
    for_each_quotient(rest, [&](const ExprPtr& divisor, const ExprPtr& numerator) {
      if (is_named(divisor, variable.name) && !(numerator && is_literal(numerator))) ++quotients;
    });
    return quotients > 1;
  }

  // Visits divisors and what they divide (null for x /= s).
  template <typename Visit>
  static void for_each_quotient(const Block& block, const Visit& visit) {
    walk(block, [&](const Stmt& stmt) {
      const auto* assignment = as<Assignment>(stmt);
      const ExprPtr divides = assignment != nullptr ? divisor_of(*assignment) : nullptr;
      if (divides) visit(divides, ExprPtr());
      walk_own_expressions(stmt, [&](const Expr& expr) {
        if (const ExprPtr divisor = divisor_of(expr)) visit(divisor, to<Binary>(expr).left);
      });
    });
  }

  const Reciprocal* reciprocal_of(const ExprPtr& divisor) const {
    const auto found = std::ranges::find_if(
        reciprocals_, [&](const Reciprocal& one) { return equal(one.divisor, divisor); });
    return found != reciprocals_.end() ? &*found : nullptr;
  }

  StmtPtr declare_reciprocal(const ExprPtr& divisor) {
    const auto* variable = as<VariableReference>(divisor);
    const ScalarType type = *divisor->type;
    Variable inverse =
        local_variable(names_.fresh(variable != nullptr ? variable->name + "_inverse" : "inverse"),
                       std::string(cuda_name(type)), type);
    inverse.is_const = true;
    reciprocals_.push_back({divisor, source::variable(inverse.name, type)});
    const ExprPtr one = source::floating(type == ScalarType::f64 ? "1.0" : "1.0f");
    return declare(inverse, with_type(source::divide(one, divisor), type));
  }

  const Analysis& analysis_;
  Names names_;
  std::vector<Reciprocal> reciprocals_;  // that are known here
};

// The place is what becomes of the kernel.
class ReciprocalDivision final : public PlacedStep<Block> {
 public:
  std::string_view id() const override { return "reciprocal_division"; }
  int position() const override { return 166; }
  std::vector<StepParameters> settings() const override { return {{}}; }

 protected:
  Requirements requirements() const override { return {.one_launch = false}; }
  Result<Block> find(const KernelAnalysis& kernel, const StepParameters&) const override {
    if (!kernel.problem().assume.reassociate)
      return refuse("the problem does not grant 'assume: {reassociate: true}'");
    DivisionInverter inverter(kernel.kernel(), kernel.analysis());
    Block body = inverter.run(kernel.kernel().body);
    if (!inverter.changed)
      return refuse("no value is divided by several times, or in a loop that leaves it as it is");
    return body;
  }

  KernelState rewrite(const KernelAnalysis& kernel, const Block& body) const override {
    KernelState result = kernel.state();
    result.unit.kernel.body = body;
    rely_on(result, kInvertsDivisors);
    return result;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_reciprocal_division() {
  return std::make_unique<ReciprocalDivision>();
}

}  // namespace regraph::rewrite
