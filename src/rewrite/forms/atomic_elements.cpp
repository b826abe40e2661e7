#include "rewrite/forms/atomic_elements.h"

#include "source/build.h"
#include "source/known_functions.h"
#include "source/match.h"
#include "source/walk.h"

#include <memory>
#include <optional>
#include <string>

namespace regraph::rewrite {

Block with_atomic_elements(const Kernel& kernel) {
  return rewrite_expressions(kernel.body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
    const auto* call = as<Call>(expr);
    if (call == nullptr || call->arguments.empty() || !is_atomic(call->function))
      return std::nullopt;
    std::string name;
    ExprPtr index;
    if (!matches(call->arguments.front(), sum(some_variable(name), any(index)))) {
      return std::nullopt;
    }
    const KernelParameter* parameter = kernel.parameter(name);
    if (parameter == nullptr || !parameter->is_pointer || !parameter->scalar) return std::nullopt;
    auto changed = std::make_shared<Call>(*call);
    changed->arguments.front() = address(element(variable(name, parameter->scalar), {index}));
    return changed;
  });
}

}  // namespace regraph::rewrite
