// fast_math: single-precision functions become the hardware's approximate forms.
//
//   functions = exp_log: expf, logf, log2f, log10f, powf -> __expf, ...
//               divide:  a / b -> __fdividef(a, b)
//               sqrt:    1 / sqrtf(x) -> rsqrtf(x)
//               all:     these, and sinf, cosf -> __sinf, __cosf
//
// Changes results within the accuracy of those forms, so it needs the problem's leave. Results are
// checked against the tolerance as always.
#include "rewrite/steps/step_rewriter.h"
#include "source/build.h"
#include "source/walk.h"

#include <cstdlib>
#include <map>
#include <memory>

namespace regraph::rewrite {
namespace {

using source::Block;
using source::Expr;
using source::ExprKind;
using source::ExprPtr;
using source::Stmt;
using source::StmtKind;
using source::StmtPtr;

bool is_single(const ExprPtr& expr) {
  return expr->type == ScalarType::f32;
}

bool is_single_or_integer(const ExprPtr& expr) {
  return is_single(expr) || (expr->type && !is_floating(*expr->type));
}

ExprPtr single(const ExprPtr& expr) {
  auto typed = std::make_shared<Expr>(*expr);
  typed->type = ScalarType::f32;
  return typed;
}

bool is_one(const ExprPtr& expr) {
  return (expr->kind == ExprKind::integer && expr->number == 1) ||
         (expr->kind == ExprKind::floating && std::strtod(expr->text.c_str(), nullptr) == 1.0);
}

// Which expressions get another form, and which.
class Approximator {
 public:
  explicit Approximator(const std::string& functions)
      : exp_log_(functions == "exp_log" || functions == "all"),
        divide_(functions == "divide" || functions == "all"),
        sqrt_(functions == "sqrt" || functions == "all"),
        circular_(functions == "all") {}

  [[nodiscard]] bool changes(const Block& block) const {
    bool found = false;
    source::walk(block, [&](const Stmt& stmt) {
      found = found || divides(stmt);
      source::walk_own_expressions(stmt, [&](const Expr& expr) {
        found = found || is_root(expr) || (divide_ && divides(expr)) ||
                (expr.kind == ExprKind::call && !faster_name(expr.text).empty());
      });
    });
    return found;
  }

  [[nodiscard]] Block block(const Block& statements) const {
    Block result;
    for (const StmtPtr& stmt : statements)
      result.push_back(statement(stmt));
    return result;
  }

 private:
  // a /= b
  bool divides(const Stmt& stmt) const {
    return divide_ && stmt.kind == StmtKind::assign && stmt.text == "/=" &&
           is_single(stmt.target) && is_single_or_integer(stmt.value);
  }

  static bool divides(const Expr& expr) {
    return expr.kind == ExprKind::binary && expr.text == "/" && expr.type == ScalarType::f32 &&
           is_single_or_integer(expr.operands[0]) && is_single_or_integer(expr.operands[1]);
  }

  // 1 / sqrtf(x)
  bool is_root(const Expr& expr) const {
    return sqrt_ && divides(expr) && expr.operands[1]->kind == ExprKind::call &&
           expr.operands[1]->text == "sqrtf" && is_one(expr.operands[0]);
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
    for (const auto& [enabled, table] : {std::pair(exp_log_, &kExpLog), {circular_, &kCircular}}) {
      const auto found = table->find(function);
      if (enabled && found != table->end()) return found->second;
    }
    return "";
  }

  StmtPtr statement(const StmtPtr& stmt) const {
    if (!stmt) return stmt;
    auto copy = std::make_shared<Stmt>(*stmt);
    copy->target = expression(stmt->target);
    copy->value = expression(stmt->value);
    copy->init = statement(stmt->init);
    copy->step = statement(stmt->step);
    copy->body = block(stmt->body);
    copy->otherwise = block(stmt->otherwise);
    if (divides(*stmt)) {
      copy->text = "=";
      copy->value = quotient(copy->target, copy->value);
    }
    return copy;
  }

  static ExprPtr quotient(const ExprPtr& numerator, const ExprPtr& denominator) {
    return single(source::call("__fdividef", {numerator, denominator}));
  }

  ExprPtr expression(const ExprPtr& expr) const {
    if (!expr) return expr;
    auto copy = std::make_shared<Expr>(*expr);
    for (ExprPtr& operand : copy->operands)
      operand = expression(operand);
    if (expr->kind == ExprKind::call) {
      const std::string name = faster_name(expr->text);
      if (!name.empty()) copy->text = name;
      return copy;
    }
    if (is_root(*expr)) return single(source::call("rsqrtf", copy->operands[1]->operands));
    if (divide_ && divides(*expr)) return quotient(copy->operands[0], copy->operands[1]);
    return copy;
  }

  bool exp_log_;
  bool divide_;
  bool sqrt_;
  bool circular_;
};

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
  Result<std::string> find(const KernelAnalysis& kernel,
                           const StepParameters& parameters) const override {
    auto functions = text_parameter(parameters, "functions");
    if (!functions) return functions;
    if (!kernel.problem().assume.fast_math) {
      return refuse("the problem does not grant 'assume: {fast_math: true}'");
    }
    if (!Approximator(*functions).changes(kernel.kernel().body)) {
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
    result.unit.kernel.body = Approximator(functions).block(kernel.kernel().body);
    rely_on(result, kApproximates);
    return result;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_fast_math() {
  return std::make_unique<FastMath>();
}

}  // namespace regraph::rewrite
