#include "rewrite/forms/addressed_elements.h"

#include "source/analysis.h"
#include "source/build.h"
#include "source/known_functions.h"
#include "source/match.h"
#include "source/walk.h"

#include <memory>
#include <optional>
#include <string>

namespace regraph::rewrite {

namespace {

bool is_pointer(const ExprPtr& expr, const Kernel& kernel, const Analysis& analysis) {
  const auto* name = as<VariableReference>(expr);
  if (name == nullptr) return false;
  if (const Variable* local = analysis.local(name->name)) return local->is_pointer;
  const KernelParameter* parameter = kernel.parameter(name->name);
  return parameter != nullptr && parameter->is_pointer;
}

// What lies at the address: of &x[i], x + i and x; null for others.
ExprPtr element_at(const ExprPtr& address, const Kernel& kernel, const Analysis& analysis) {
  if (const ExprPtr place = addressed(*address)) return is<Subscript>(place) ? place : nullptr;
  if (is_pointer(address, kernel, analysis)) return source::element(address, {integer(0)});
  const auto* sum = as<Binary>(address);
  const bool is_place =
      sum != nullptr && sum->op == BinaryOperator::add && is_pointer(sum->left, kernel, analysis);
  return is_place ? source::element(sum->left, {sum->right}) : nullptr;
}

}  // namespace

Block with_plain_loads(const Kernel& kernel) {
  const Analysis analysis(kernel);
  return rewrite_expressions(kernel.body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
    const auto* call = as<Call>(expr);
    if (call == nullptr || call->arguments.size() != 1 || !reads_through_argument(call->function)) {
      return std::nullopt;
    }
    const ExprPtr element = element_at(call->arguments[0], kernel, analysis);
    if (!element) return std::nullopt;
    return element->type ? element : with_type(element, expr->type);
  });
}

Block with_atomic_elements(const Kernel& kernel) {
  return rewrite_expressions(kernel.body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
    const auto* call = as<Call>(expr);
    if (call == nullptr || call->arguments.empty() || !is_atomic(call->function))
      return std::nullopt;
    std::string name;
    ExprPtr index;
    if (!matches(call->arguments.front(), sum(some_variable(name), any(index))))
      return std::nullopt;
    const KernelParameter* parameter = kernel.parameter(name);
    if (parameter == nullptr || !parameter->is_pointer || !parameter->scalar) return std::nullopt;
    auto changed = std::make_shared<Call>(*call);
    changed->arguments.front() = address(element(variable(name, parameter->scalar), {index}));
    return changed;
  });
}

}  // namespace regraph::rewrite
