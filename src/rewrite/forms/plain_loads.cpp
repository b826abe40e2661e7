#include "rewrite/forms/plain_loads.h"

#include "source/analysis.h"
#include "source/build.h"
#include "source/known_functions.h"
#include "source/match.h"
#include "source/walk.h"

#include <optional>

namespace regraph::rewrite {

using source::ExprPtr;

namespace {

bool is_pointer(const ExprPtr& expr, const source::Kernel& kernel,
                const source::Analysis& analysis) {
  const auto* name = source::as<source::VariableReference>(expr);
  if (name == nullptr) return false;
  if (const source::Variable* local = analysis.local(name->name)) return local->is_pointer;
  const source::KernelParameter* parameter = kernel.parameter(name->name);
  return parameter != nullptr && parameter->is_pointer;
}

// What lies at the address: of &x[i], x + i and x; null for others.
ExprPtr element_at(const ExprPtr& address, const source::Kernel& kernel,
                   const source::Analysis& analysis) {
  if (const ExprPtr place = source::addressed(*address))
    return source::is<source::Subscript>(place) ? place : nullptr;
  if (is_pointer(address, kernel, analysis)) return source::element(address, {source::integer(0)});
  const auto* sum = source::as<source::Binary>(address);
  const bool is_place = sum != nullptr && sum->op == source::BinaryOperator::add &&
                        is_pointer(sum->left, kernel, analysis);
  return is_place ? source::element(sum->left, {sum->right}) : nullptr;
}

}  // namespace

source::Block with_plain_loads(const source::Kernel& kernel) {
  const source::Analysis analysis(kernel);
  return source::rewrite_expressions(
      kernel.body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
        const auto* call = source::as<source::Call>(expr);
        if (call == nullptr || call->arguments.size() != 1 ||
            !source::reads_through_argument(call->function)) {
          return std::nullopt;
        }
        const ExprPtr element = element_at(call->arguments[0], kernel, analysis);
        if (!element) return std::nullopt;
        return element->type ? element : source::with_type(element, expr->type);
      });
}

}  // namespace regraph::rewrite
