#include "rewrite/forms/atomic_elements.h"

#include "source/build.h"
#include "source/known_functions.h"
#include "source/match.h"
#include "source/walk.h"

#include <memory>
#include <optional>
#include <string>

namespace regraph::rewrite {

using source::ExprPtr;

source::Block with_atomic_elements(const source::Kernel& kernel) {
  return source::rewrite_expressions(
      kernel.body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
        const auto* call = source::as<source::Call>(expr);
        if (call == nullptr || call->arguments.empty() || !source::is_atomic(call->function))
          return std::nullopt;
        std::string name;
        ExprPtr index;
        if (!source::matches(call->arguments.front(),
                             source::sum(source::some_variable(name), source::any(index)))) {
          return std::nullopt;
        }
        const source::KernelParameter* parameter = kernel.parameter(name);
        if (parameter == nullptr || !parameter->is_pointer || !parameter->scalar)
          return std::nullopt;
        auto changed = std::make_shared<source::Call>(*call);
        changed->arguments.front() =
            source::address(source::element(source::variable(name, parameter->scalar), {index}));
        return changed;
      });
}

}  // namespace regraph::rewrite
