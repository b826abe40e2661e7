// reciprocal_root: quotients by square roots become products with reciprocal ones.
//
//   d = sqrtf(s); f = m / (d * d * d);   ->   d_inverse = rsqrtf(s); f = m * d_inverse * d_inverse * d_inverse;
//
// A root that is rounded correctly and a division that is take some twenty instructions and a
// branch each; rsqrtf takes two. Its result is off by 2 units in the last place at most, and each
// product rounds once more: as much as a sum of as few terms may change in another order, and it
// needs the same leave, `reassociate`. Roots that other values need stay beside it.
//
// Legal for divisors in single precision that are products of square roots, of numbers whose root
// is among them, and of names for such.
#include "rewrite/forms/names.h"
#include "rewrite/steps/step_rewriter.h"
#include "source/build.h"
#include "source/match.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {
namespace {

// What a square root in single precision is of; null for other values.
ExprPtr rooted(const ExprPtr& value) {
  const auto* call = as<Call>(value);
  const bool is_root = call != nullptr && value->type == ScalarType::f32 &&
                       (call->function == "sqrtf" || call->function == "sqrt") &&
                       call->arguments.size() == 1 &&
                       call->arguments.front()->type == ScalarType::f32;
  return is_root ? call->arguments.front() : nullptr;
}

ExprPtr reciprocal_root_of(const ExprPtr& value) {
  return with_type(source::call("rsqrtf", {value}), ScalarType::f32);
}

bool is_literal_one(const ExprPtr& value) {
  const auto* floating = as<FloatingLiteral>(value);
  return is_number(value, 1) ||
         (floating != nullptr && std::strtod(floating->spelling.c_str(), nullptr) == 1.0);
}

class RootInverter final : public Mutator {
 public:
  RootInverter(const Kernel& kernel, const Analysis& analysis)
      : analysis_(analysis), names_(kernel) {}

  bool changed = false;

  Block inverted(const Block& body) {
    const Block quotients = run(body);
    return changed ? with_reciprocals(quotients) : body;
  }

 private:
  using Mutator::mutate;
  using Mutator::run;

  ExprPtr mutate(const ExprPtr& expr, const Binary& division) override {
    const bool divides = division.op == BinaryOperator::divide && expr->type == ScalarType::f32 &&
                         is_kept_single(division.left);
    const auto product = divides ? inverse_of(division.right) : std::nullopt;
    if (!product) return Mutator::mutate(expr, division);
    changed = true;
    ExprPtr result = is_literal_one(division.left) ? nullptr : run(division.left);
    for (const ExprPtr& factor : *product)
      result = result ? single(source::multiply(result, factor)) : factor;
    return result;
  }

  // x /= d
  StmtPtr mutate(const StmtPtr& stmt, const Assignment& assignment) override {
    const bool divides =
        assignment.op == AssignmentOperator::divide && assignment.target->type == ScalarType::f32;
    const auto product = divides ? inverse_of(assignment.value) : std::nullopt;
    if (!product) return Mutator::mutate(stmt, assignment);
    changed = true;
    ExprPtr value = product->front();
    for (std::size_t at = 1; at < product->size(); ++at)
      value = single(source::multiply(value, (*product)[at]));
    auto result = std::make_shared<Assignment>(assignment);
    result->op = AssignmentOperator::multiply;
    result->value = value;
    return result;
  }

  static bool is_kept_single(const ExprPtr& value) {
    return value->type == ScalarType::f32 || (value->type && !is_floating(*value->type));
  }

  static ExprPtr single(const ExprPtr& value) { return with_type(value, ScalarType::f32); }

  // The factors of the divisor's inverse; nothing where one has none.
  std::optional<std::vector<ExprPtr>> inverse_of(const ExprPtr& divisor) {
    std::vector<Factor> factors;
    if (divisor->type != ScalarType::f32) return std::nullopt;
    collect(divisor, factors);
    std::vector<ExprPtr> result;
    for (const Factor& factor : factors) {
      if (factor.root_of) {
        result.push_back(inverse(factor));
        continue;
      }
      // s = d * d
      const Factor* root = nullptr;
      for (const Factor& other : factors)
        if (other.root_of && equal(other.root_of, factor.value)) root = &other;
      if (root == nullptr) return std::nullopt;
      result.insert(result.end(), 2, inverse(*root));
    }
    return result;
  }

  struct Factor {
    ExprPtr value;
    ExprPtr root_of;   // null for what is no root
    std::string name;  // of the root, where it has one
  };

  ExprPtr inverse(const Factor& factor) {
    if (factor.name.empty()) return reciprocal_root_of(run(factor.root_of));
    auto& name = reciprocals_[factor.name];
    if (name.empty()) name = names_.fresh(factor.name + "_inverse");
    return source::variable(name, ScalarType::f32);
  }

  void collect(const ExprPtr& value, std::vector<Factor>& out) const {
    if (const auto* product = as_binary(value, BinaryOperator::multiply);
        product != nullptr && is_single_product(*product)) {
      collect(product->left, out);
      collect(product->right, out);
      return;
    }
    if (const ExprPtr of = rooted(value)) {
      out.push_back({value, of, ""});
      return;
    }
    const auto* variable = as<VariableReference>(value);
    const ExprPtr definition = variable != nullptr ? analysis_.definition(variable->name) : nullptr;
    if (!definition || definition->type != ScalarType::f32) {
      out.push_back({value, nullptr, ""});
    } else if (const ExprPtr of = rooted(definition)) {
      out.push_back({value, of, variable->name});
    } else if (is_product_of_names(definition)) {
      collect(definition, out);
    } else {
      out.push_back({value, nullptr, ""});
    }
  }

  static bool is_single_product(const Binary& product) {
    return product.left->type == ScalarType::f32 && product.right->type == ScalarType::f32;
  }

  // A product of variables that have one value: the same wherever it is asked for.
  bool is_product_of_names(const ExprPtr& value) const {
    if (const auto* variable = as<VariableReference>(value))
      return analysis_.is_single_definition(variable->name);
    const auto* product = as_binary(value, BinaryOperator::multiply);
    return product != nullptr && is_product_of_names(product->left) &&
           is_product_of_names(product->right);
  }

  // Declares the reciprocals behind their roots, and takes away the roots that nobody needs now.
  Block with_reciprocals(const Block& body) const {
    const Block declared =
        rewrite_statements(body, [&](const StmtPtr& stmt) -> std::optional<Block> {
          const auto* root = as<Declaration>(stmt);
          const auto reciprocal =
              root != nullptr ? reciprocals_.find(root->variable.name) : reciprocals_.end();
          if (reciprocal == reciprocals_.end()) return std::nullopt;
          Variable variable = root->variable;
          variable.name = reciprocal->second;
          variable.is_const = true;
          return Block{stmt, declare(variable, reciprocal_root_of(rooted(root->value)))};
        });
    return without_idle(declared);
  }

  // Without roots, and names for products, that nothing reads.
  Block without_idle(const Block& body) const {
    std::set<std::string> used;
    walk_expressions(body, [&](const Expr& expr) {
      if (const auto* variable = as<VariableReference>(expr)) used.insert(variable->name);
    });
    Block result = rewrite_statements(body, [&](const StmtPtr& stmt) -> std::optional<Block> {
      const auto* declaration = as<Declaration>(stmt);
      const bool is_idle = declaration != nullptr && declaration->value &&
                           declaration->variable.scalar == ScalarType::f32 &&
                           !used.contains(declaration->variable.name) &&
                           (rooted(declaration->value) || is_product_of_names(declaration->value));
      return is_idle ? std::optional(Block{}) : std::nullopt;
    });
    return result == body ? result : without_idle(result);
  }

  const Analysis& analysis_;
  Names names_;
  std::map<std::string, std::string> reciprocals_;  // root -> its reciprocal
};

class ReciprocalRoot final : public PlacedStep<Block> {
 public:
  std::string_view id() const override { return "reciprocal_root"; }
  int position() const override { return 165; }
  std::vector<StepParameters> settings() const override { return {{}}; }

 protected:
  Requirements requirements() const override { return {.one_launch = false, .transparent = false}; }
  // The place is what becomes of the kernel.
  Result<Block> find(const KernelAnalysis& kernel, const StepParameters&) const override {
    if (!kernel.problem().assume.reassociate)
      return refuse("the problem does not grant 'assume: {reassociate: true}'");
    RootInverter inverter(kernel.kernel(), kernel.analysis());
    Block body = inverter.inverted(kernel.kernel().body);
    if (!inverter.changed)
      return refuse("no quotient in single precision is by square roots alone");
    return body;
  }

  KernelState rewrite(const KernelAnalysis& kernel, const Block& body) const override {
    KernelState result = kernel.state();
    result.unit.kernel.body = body;
    rely_on(result, kInvertsRoots);
    return result;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_reciprocal_root() {
  return std::make_unique<ReciprocalRoot>();
}

}  // namespace regraph::rewrite
