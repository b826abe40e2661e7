// fast_math: single-precision functions become the hardware's approximate forms.
//
//   functions = exp_log: expf, logf, log2f, log10f, powf -> __expf, ...
//               divide:  a / b -> __fdividef(a, b)
//               sqrt:    1 / sqrtf(x) -> rsqrtf(x)
//               all:     these, and sinf, cosf -> __sinf, __cosf
//
// Changes results within the accuracy of those forms, so it needs the problem's leave: `fast_math`,
// or, where all results are of half precision or bfloat16, `reassociate`. Such results hold 2^-12
// of a value at best, and exponentials are off by 2^-16 of theirs at most (2 + 1.17 |x| units in
// the last place, CUDA C++ Programming Guide, Mathematical Functions), quotients and roots by 2
// units. Logarithms, powers, sines and cosines, whose forms lose more near a zero, stay. Results
// are checked against the tolerance as always.
#include "rewrite/steps/step_rewriter.h"
#include "source/build.h"
#include "source/match.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>

namespace regraph::rewrite {
namespace {

bool is_single(const ExprPtr& expr) {
  return expr->type == ScalarType::f32;
}

bool is_single_or_integer(const ExprPtr& expr) {
  return is_single(expr) || (expr->type && !is_floating(*expr->type));
}

bool is_one(const ExprPtr& expr) {
  const auto* floating = as<FloatingLiteral>(expr);
  return is_number(expr, 1) ||
         (floating != nullptr && std::strtod(floating->spelling.c_str(), nullptr) == 1.0);
}

// a / b in single precision
bool divides(const Expr& expr) {
  const auto* division = as<Binary>(expr);
  return division != nullptr && division->op == BinaryOperator::divide &&
         expr.type == ScalarType::f32 && is_single_or_integer(division->left) &&
         is_single_or_integer(division->right);
}

ExprPtr quotient(const ExprPtr& numerator, const ExprPtr& denominator) {
  return with_type(source::call("__fdividef", {numerator, denominator}), ScalarType::f32);
}

// Which expressions get another form, and which.
class Approximator final : public Mutator {
 public:
  // `all_forms`: also those that lose digits where a function is near zero.
  Approximator(const std::string& functions, bool all_forms)
      : exp_log_(functions == "exp_log" || functions == "all"),
        divide_(functions == "divide" || functions == "all"),
        sqrt_(functions == "sqrt" || functions == "all"),
        circular_(functions == "all"),
        all_forms_(all_forms) {}

  [[nodiscard]] bool changes(const Block& block) const {
    bool found = false;
    walk(block, [&](const Stmt& stmt) {
      const auto* assignment = as<Assignment>(stmt);
      found = found || (assignment != nullptr && divides_in_place(*assignment));
      walk_own_expressions(stmt, [&](const Expr& expr) {
        const auto* call = as<Call>(expr);
        found = found || is_root(expr) || (divide_ && divides(expr)) ||
                (call != nullptr && !faster_name(call->function).empty());
      });
    });
    return found;
  }

 private:
  using Mutator::mutate;

  // a /= b
  bool divides_in_place(const Assignment& stmt) const {
    return divide_ && stmt.op == AssignmentOperator::divide && is_single(stmt.target) &&
           is_single_or_integer(stmt.value);
  }

  // 1 / sqrtf(x)
  bool is_root(const Expr& expr) const {
    if (!sqrt_ || !divides(expr)) return false;
    const auto* root = as<Call>(to<Binary>(expr).right);
    return root != nullptr && root->function == "sqrtf" && is_one(to<Binary>(expr).left);
  }

  // "" for functions that stay.
  std::string faster_name(const std::string& function) const {
    static const std::map<std::string, std::string> kExpLog = {{"expf", "__expf"},
                                                               {"logf", "__logf"},
                                                               {"log2f", "__log2f"},
                                                               {"log10f", "__log10f"},
                                                               {"powf", "__powf"}};
    static const std::map<std::string, std::string> kCircular = {{"sinf", "__sinf"},
                                                                 {"cosf", "__cosf"}};
    if (!all_forms_ && function != "expf") return "";
    for (const auto& [enabled, table] : {std::pair(exp_log_, &kExpLog), {circular_, &kCircular}}) {
      const auto found = table->find(function);
      if (enabled && found != table->end()) return found->second;
    }
    return "";
  }

  StmtPtr mutate(const StmtPtr& stmt, const Assignment& assignment) override {
    if (!divides_in_place(assignment)) return Mutator::mutate(stmt, assignment);
    auto copy = std::make_shared<Assignment>(assignment);
    copy->target = run(assignment.target);
    copy->op = AssignmentOperator::assign;
    copy->value = quotient(copy->target, run(assignment.value));
    return copy;
  }

  ExprPtr mutate(const ExprPtr& expr, const Call& call) override {
    const std::string name = faster_name(call.function);
    if (name.empty()) return Mutator::mutate(expr, call);
    auto copy = std::make_shared<Call>(call);
    copy->function = name;
    for (ExprPtr& argument : copy->arguments)
      argument = run(argument);
    return copy;
  }

  ExprPtr mutate(const ExprPtr& expr, const Binary& division) override {
    if (is_root(*expr)) {
      const ExprPtr root = run(division.right);
      return with_type(source::call("rsqrtf", to<Call>(root).arguments), ScalarType::f32);
    }
    if (!divide_ || !divides(*expr)) return Mutator::mutate(expr, division);
    const ExprPtr numerator = run(division.left);
    return quotient(numerator, run(division.right));
  }

  bool exp_log_;
  bool divide_;
  bool sqrt_;
  bool circular_;
  bool all_forms_;
};

// Whether whatever the kernel leaves has 16 bits and is a floating-point number.
bool has_results_of_16_bits(const Problem& problem) {
  return std::ranges::all_of(problem.arguments, [](const Argument& argument) {
    const bool is_narrow = argument.type == ScalarType::f16 || argument.type == ScalarType::bf16;
    return !argument.is_output() || (is_narrow && argument.fields.empty());
  });
}

// The place is the class of functions.
class FastMath final : public PlacedStep<std::string> {
 public:
  std::string_view id() const override { return "fast_math"; }
  int position() const override { return 170; }
  std::vector<StepParameters> settings() const override {
    return {{{"functions", "exp_log"}},
            {{"functions", "divide"}},
            {{"functions", "sqrt"}},
            {{"functions", "all"}}};
  }

 protected:
  Requirements requirements() const override { return {.one_launch = false, .transparent = false}; }
  Result<std::string> find(const KernelAnalysis& kernel,
                           const StepParameters& parameters) const override {
    auto functions = text_parameter(parameters, "functions");
    if (!functions) return functions;
    const Assumptions& assume = kernel.problem().assume;
    const bool by_type = assume.reassociate && has_results_of_16_bits(kernel.problem());
    if (!assume.fast_math && !by_type) {
      return refuse(
          "the problem does not grant 'assume: {fast_math: true}', and not all results are of half "
          "precision");
    }
    if (!Approximator(*functions, assume.fast_math).changes(kernel.kernel().body)) {
      return refuse("the kernel has no single-precision " +
                    std::string(*functions == "divide" ? "division"
                                : *functions == "sqrt" ? "reciprocal square root"
                                                       : "function") +
                    " that has a faster form");
    }
    return functions;
  }

  KernelState rewrite(const KernelAnalysis& kernel, const std::string& functions) const override {
    KernelState result = kernel.state();
    result.unit.kernel.body =
        Approximator(functions, kernel.problem().assume.fast_math).run(kernel.kernel().body);
    rely_on(result, kApproximates);
    return result;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_fast_math() {
  return std::make_unique<FastMath>();
}

}  // namespace regraph::rewrite
