#include "rewrite/forms/unused_names.h"

#include "source/known_functions.h"
#include "source/walk.h"

#include <optional>
#include <set>
#include <string>
#include <utility>

namespace regraph::rewrite {

namespace {

bool does_nothing(const ExprPtr& value) {
  return all_expressions(value, [&](const Expr& expr) {
    const auto* call = as<Call>(expr);
    return call == nullptr || is_pure(*call);
  });
}

}  // namespace

Block without_unused(Block body, const std::function<bool(const Declaration&)>& may_go) {
  for (;;) {
    const std::set<std::string> mentioned = variables_of(body);
    Block rest = rewrite_statements(body, [&](const StmtPtr& stmt) -> std::optional<Block> {
      const auto* declared = as<Declaration>(stmt);
      const bool goes =
          declared != nullptr && !mentioned.contains(declared->variable.name) && may_go(*declared);
      return goes ? std::optional(Block()) : std::nullopt;
    });
    if (rest == body) return body;
    body = std::move(rest);
  }
}

Block without_unused_names(const Kernel& kernel) {
  return without_unused(kernel.body,
                        [](const Declaration& declared) { return does_nothing(declared.value); });
}

}  // namespace regraph::rewrite
