#include "rewrite/analysis/atomic_table.h"

#include "affine/size_expression.h"
#include "rewrite/analysis/atomic_updates.h"
#include "rewrite/forms/kernel_state.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>

namespace regraph::rewrite {

namespace {

// The one atomic function that the parameter is used with, "" for none. Error: refused, when it
// is used for anything else.
Result<std::string> only_function(const Kernel& kernel, const KernelParameter& parameter) {
  std::string function;
  std::size_t updates = 0;
  bool mixed = false;
  walk(kernel.body, [&](const Stmt& stmt) {
    const auto update = atomic_update_of(stmt);
    if (!update || update->table != parameter.name) return;
    ++updates;
    mixed = mixed || (!function.empty() && function != update->function);
    function = update->function;
  });
  if (updates == 0) return function;
  std::size_t mentions = 0;
  walk_expressions(kernel.body, [&](const Expr& expr) {
    if (is_named(expr, parameter.name)) ++mentions;
  });
  if (mixed || mentions != updates) {
    return refuse("'" + parameter.name +
                  "' is used for more than one kind of atomic without a result");
  }
  if (!neutral_value(function, *parameter.scalar)) {
    return refuse(function + " on " + parameter.type + " has no value to start a copy of '" +
                  parameter.name + "' from");
  }
  return function;
}

}  // namespace

Result<AtomicTable> find_atomic_table(const KernelForm& form, const Problem& problem) {
  Error reason = refuse("the kernel updates no array in global memory atomically");
  for (const KernelParameter& parameter : form.kernel.parameters) {
    if (!parameter.is_pointer || !parameter.scalar) continue;
    const auto function = only_function(form.kernel, parameter);
    if (!function) {
      reason = function.error();
      continue;
    }
    if (function->empty()) continue;
    if (form.analysis.is_viewed(parameter.name)) {
      reason = refuse("'" + parameter.name + "' is accessed as another type too");
      continue;
    }
    const auto argument =
        std::find_if(problem.arguments.begin(), problem.arguments.end(),
                     [&](const Argument& one) { return one.name == parameter.name; });
    if (argument == problem.arguments.end()) continue;
    AtomicTable table{&parameter, *function, IntegerExpression(1), nullptr};
    for (const IntegerExpression& extent_value : argument->shape)
      table.length = IntegerExpression::multiply(table.length, extent_value);
    table.length_in_kernel = size_in_kernel(table.length, form.kernel, form.analysis, false);
    return table;
  }
  return reason;
}

bool merges_shared_memory(const KernelForm& form, const AtomicTable& table) {
  if (table.length == IntegerExpression(1)) return false;
  bool all_shared = true;
  walk(form.kernel.body, [&](const Stmt& stmt) {
    const auto update = atomic_update_of(stmt);
    if (!update || update->table != table.parameter->name) return;
    const bool reads_shared = any_expression(update->value, [&](const Expr& part) {
      const auto* variable = as<VariableReference>(part);
      return variable != nullptr && form.analysis.is_shared(variable->name);
    });
    all_shared = all_shared && reads_shared;
  });
  return all_shared;
}

}  // namespace regraph::rewrite
