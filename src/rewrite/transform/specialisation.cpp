#include "rewrite/transform/specialisation.h"

#include "rewrite/forms/dead_guards.h"
#include "rewrite/forms/simplify.h"
#include "rewrite/forms/uses.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

// The names that the value is made of, those of names in it too.
void add_names(const ExprPtr& value, const Analysis& analysis, std::set<std::string>& names) {
  for (const std::string& name : variables_of(value)) {
    if (!names.insert(name).second) continue;
    if (const ExprPtr definition = analysis.definition(name))
      add_names(definition, analysis, names);
  }
}

std::set<std::string> names_of_divisors(const Kernel& kernel, const Analysis& analysis) {
  std::set<std::string> names;
  walk_expressions(kernel.body, [&](const Expr& expr) {
    const auto* binary = as<Binary>(expr);
    const bool divides = binary != nullptr && (binary->op == BinaryOperator::divide ||
                                               binary->op == BinaryOperator::remainder);
    if (divides && expr.type && !is_floating(*expr.type)) add_names(binary->right, analysis, names);
  });
  return names;
}

// Whether the parameter is 1 wherever the kernel is to be fast.
bool is_one(const std::string& parameter, const Problem& problem) {
  const auto argument = std::ranges::find(problem.arguments, parameter, &Argument::name);
  return !problem.bench.empty() && std::ranges::all_of(problem.bench, [&](const Symbols& sizes) {
    if (const auto size = sizes.find(parameter); size != sizes.end()) return size->second == 1;
    if (argument == problem.arguments.end() || !argument->value) return false;
    const auto value = argument->value->at(sizes);
    return value && *value == 1.0;
  });
}

}  // namespace

std::optional<Specialised> specialised(const Kernel& kernel, const Problem& problem) {
  const Analysis analysis(kernel);
  const std::set<std::string> divisors = names_of_divisors(kernel, analysis);
  Specialised result{kernel, nullptr};
  for (const KernelParameter& parameter : kernel.parameters) {
    const bool is_fixed = !parameter.is_pointer && parameter.scalar == ScalarType::i32 &&
                          divisors.contains(parameter.name) && is_one(parameter.name, problem);
    const ExprPtr size = variable(parameter.name, parameter.scalar);
    if (!is_fixed || !analysis.polynomial(size)) continue;
    const ExprPtr holds = equals(size, integer(1));
    result.condition = result.condition ? both(result.condition, holds) : holds;
    result.kernel.body =
        rewrite_expressions(result.kernel.body, replace_variable(parameter.name, integer(1)));
  }
  if (!result.condition) return std::nullopt;
  result.kernel.body = simplified(result.kernel.body);
  result.kernel.body = simplified(without_dead_guards(result.kernel));
  return result;
}

}  // namespace regraph::rewrite
