#include "rewrite/forms/plain_loads.h"

#include "source/known_functions.h"
#include "source/match.h"
#include "source/walk.h"

#include <optional>

namespace regraph::rewrite {

using source::ExprPtr;

source::Block with_plain_loads(const source::Block& block) {
  return source::rewrite_expressions(block, [](const ExprPtr& expr) -> std::optional<ExprPtr> {
    const auto* call = source::as<source::Call>(expr);
    if (call == nullptr || call->arguments.size() != 1 ||
        !source::reads_through_argument(call->function)) {
      return std::nullopt;
    }
    const ExprPtr element = source::addressed(*call->arguments[0]);
    return source::is<source::Subscript>(element) ? std::optional(element) : std::nullopt;
  });
}

}  // namespace regraph::rewrite
