// fast_math: single-precision functions become the hardware's approximate forms.
//
//   functions = exp_log: expf, logf, log2f, log10f, powf -> __expf, ...
//               divide:  a / b -> __fdividef(a, b)
//               sqrt:    1 / sqrtf(x) -> rsqrtf(x)
//               all:     these, and sinf, cosf -> __sinf, __cosf
//
// Changes results within the accuracy of those forms, so it needs the problem's leave. Results are
// checked against the tolerance as always.
#include "rewrite/analysis/legality.h"
#include "rewrite/steps/steps.h"
#include "source/build.h"
#include "source/walk.h"

#include <cstdlib>
#include <map>

namespace regraph::rewrite {
namespace {

using source::Block;
using source::Expr;
using source::ExprKind;
using source::ExprPtr;
using source::Stmt;
using source::StmtKind;
using source::StmtPtr;

class Approximator {
 public:
  explicit Approximator(const std::string& functions)
      : exp_log_(functions == "exp_log" || functions == "all"),
        divide_(functions == "divide" || functions == "all"),
        sqrt_(functions == "sqrt" || functions == "all"),
        circular_(functions == "all") {}

  [[nodiscard]] bool changed() const { return changed_; }

  Block block(const Block& statements) {
    Block result;
    for (const StmtPtr& stmt : statements)
      result.push_back(statement(stmt));
    return result;
  }

 private:
  StmtPtr statement(const StmtPtr& stmt) {
    if (!stmt) return stmt;
    auto copy = std::make_shared<Stmt>(*stmt);
    copy->target = expression(stmt->target);
    copy->value = expression(stmt->value);
    copy->init = statement(stmt->init);
    copy->step = statement(stmt->step);
    copy->body = block(stmt->body);
    copy->otherwise = block(stmt->otherwise);
    const bool divides = divide_ && stmt->kind == StmtKind::assign && stmt->text == "/=" &&
                         is_single(stmt->target) && is_single_or_integer(stmt->value);
    if (divides) {
      copy->text = "=";
      copy->value = quotient(copy->target, copy->value);
    }
    return copy;
  }

  static bool is_single(const ExprPtr& expr) { return expr->type == ScalarType::f32; }
  static bool is_single_or_integer(const ExprPtr& expr) {
    return is_single(expr) || (expr->type && !is_floating(*expr->type));
  }

  ExprPtr quotient(const ExprPtr& numerator, const ExprPtr& denominator) {
    changed_ = true;
    ExprPtr result = source::call("__fdividef", {numerator, denominator});
    return single(result);
  }

  static ExprPtr single(const ExprPtr& expr) {
    auto typed = std::make_shared<Expr>(*expr);
    typed->type = ScalarType::f32;
    return typed;
  }

  ExprPtr expression(const ExprPtr& expr) {
    if (!expr) return expr;
    auto copy = std::make_shared<Expr>(*expr);
    for (ExprPtr& operand : copy->operands)
      operand = expression(operand);
    if (expr->kind == ExprKind::call) return call(std::move(copy));
    const bool divides = expr->kind == ExprKind::binary && expr->text == "/" && is_single(expr) &&
                         is_single_or_integer(expr->operands[0]) &&
                         is_single_or_integer(expr->operands[1]);
    if (!divides) return copy;
    if (const ExprPtr root = reciprocal_root(*copy)) return root;
    return divide_ ? quotient(copy->operands[0], copy->operands[1]) : copy;
  }

  // rsqrtf(x) for 1 / sqrtf(x), else null.
  ExprPtr reciprocal_root(const Expr& division) {
    const ExprPtr& denominator = division.operands[1];
    if (!sqrt_ || denominator->kind != ExprKind::call || denominator->text != "sqrtf") {
      return nullptr;
    }
    const ExprPtr& numerator = division.operands[0];
    const bool is_one = (numerator->kind == ExprKind::integer && numerator->number == 1) ||
                        (numerator->kind == ExprKind::floating &&
                         std::strtod(numerator->text.c_str(), nullptr) == 1.0);
    if (!is_one) return nullptr;
    changed_ = true;
    return single(source::call("rsqrtf", denominator->operands));
  }

  ExprPtr call(std::shared_ptr<Expr> expr) {
    static const std::map<std::string, std::string> kExpLog = {{"expf", "__expf"},
                                                               {"logf", "__logf"},
                                                               {"log2f", "__log2f"},
                                                               {"log10f", "__log10f"},
                                                               {"powf", "__powf"}};
    static const std::map<std::string, std::string> kCircular = {{"sinf", "__sinf"},
                                                                 {"cosf", "__cosf"}};
    for (const auto& [enabled, table] : {std::pair(exp_log_, &kExpLog), {circular_, &kCircular}}) {
      const auto found = table->find(expr->text);
      if (!enabled || found == table->end()) continue;
      expr->text = found->second;
      changed_ = true;
      break;
    }
    return expr;
  }

  bool exp_log_;
  bool divide_;
  bool sqrt_;
  bool circular_;
  bool changed_ = false;
};

class FastMath final : public StepRewriter {
 public:
  std::string_view id() const override { return "fast_math"; }
  std::vector<StepParameters> choices() const override {
    return {{{"functions", "exp_log"}},
            {{"functions", "divide"}},
            {{"functions", "sqrt"}},
            {{"functions", "all"}}};
  }

  Result<KernelState> apply(const KernelState& state, const StepParameters& parameters,
                            const Problem& problem) const override {
    const auto functions = parameters.find("functions");
    if (functions == parameters.end()) {
      return fail(ErrorCode::invalid_argument, "the step needs 'functions'");
    }
    if (!problem.assume.fast_math) {
      return refuse("the problem does not grant 'assume: {fast_math: true}'");
    }
    Approximator approximator(functions->second);
    KernelState result = state;
    result.unit.kernel.body = approximator.block(state.unit.kernel.body);
    if (!approximator.changed()) {
      return refuse("the kernel has no single-precision " +
                    std::string(functions->second == "divide" ? "division"
                                : functions->second == "sqrt" ? "reciprocal square root"
                                                              : "function") +
                    " that has a faster form");
    }
    rely_on(result, kApproximates);
    return result;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_fast_math() {
  return std::make_unique<FastMath>();
}

}  // namespace regraph::rewrite
