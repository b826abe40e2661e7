#include "rewrite/launch_view.h"

#include "rewrite/forms/kernel_state.h"

#include <algorithm>
#include <utility>

namespace regraph::rewrite {

namespace {

using Replacements = std::map<std::string, IntegerExpression, std::less<>>;

Launch substituted(Launch launch, const Replacements& replacements) {
  for (IntegerExpression& extent : launch.grid)
    extent = extent.substitute(replacements);
  launch.dynamic_shared_bytes = launch.dynamic_shared_bytes.substitute(replacements);
  return launch;
}

}  // namespace

LaunchView::LaunchView(const Problem& problem) : original_(problem) {
  const auto& launches = problem.launch.launches;
  is_same_ = launches.size() == 1 && launches.front().arguments.empty();
  if (is_same_) return;
  const std::string& kernel = problem.signature.name;
  const auto count = std::count_if(launches.begin(), launches.end(),
                                   [&](const Launch& launch) { return launch.kernel == kernel; });
  if (count != 1) {
    refusal_ = "the kernel '" + kernel + "' is launched several times";
    return;
  }
  view_ = problem;
  view_.arguments.clear();
  bind(*problem.launch.launch_of(kernel));
  auto plan = out_of(problem.launch);
  if (plan) view_.launch = std::move(*plan);
}

void LaunchView::bind(const Launch& launch) {
  std::size_t next = 0;
  for (const Parameter& parameter : original_.signature.parameters) {
    if (parameter.is_passed() && next >= launch.arguments.size()) {
      refusal_ = "the launch does not say what is passed to the kernel";
      return;
    }
    const std::string& passed = parameter.is_passed() ? launch.arguments[next++] : parameter.name;
    const auto found =
        std::find_if(original_.arguments.begin(), original_.arguments.end(),
                     [&](const Argument& argument) { return argument.name == passed; });
    Argument argument;
    if (found != original_.arguments.end()) argument = *found;
    argument.name = parameter.name;
    argument.type = parameter.type;
    view_.arguments.push_back(argument);
    const bool value = parameter.is_pointer || is_floating(parameter.type) || argument.value;
    if (value || passed == parameter.name) continue;
    // An integer of another name, or worked out from sizes.
    auto expression = IntegerExpression::parse(passed);
    if (!expression.ok() || original_.sizes.contains(parameter.name)) {
      refusal_ = "parameter '" + parameter.name + "' is passed '" + passed +
                 "' and has the name of another size";
      return;
    }
    if (original_.sizes.contains(passed)) {
      to_parameters_.insert_or_assign(passed, IntegerExpression::symbol(parameter.name));
    }
    for (auto* sizes : {&view_.tests, &view_.bench}) {
      for (Symbols& symbols : *sizes) {
        if (const auto number = expression->evaluate(symbols); number.ok())
          symbols[parameter.name] = *number;
      }
    }
    if (const auto number = expression->evaluate(original_.sizes); number.ok())
      view_.sizes[parameter.name] = *number;
    to_sizes_.insert_or_assign(parameter.name, std::move(*expression));
  }
  for (Argument& argument : view_.arguments) {
    for (IntegerExpression& extent : argument.shape)
      extent = extent.substitute(to_parameters_);
  }
}

Result<LaunchPlan> LaunchView::out_of(const LaunchPlan& plan) const {
  if (is_same_) return plan;
  if (!refusal_.empty()) return refuse(refusal_);
  const Launch* const launch = plan.launch_of(original_.signature.name);
  if (launch == nullptr) return refuse("the launch plan does not launch the kernel");
  LaunchPlan alone;
  alone.launches = {substituted(*launch, to_parameters_)};
  alone.launches.front().arguments.clear();
  return alone;
}

LaunchPlan LaunchView::back_into(const LaunchPlan& plan, const LaunchPlan& changed) const {
  if (is_same_) return changed;
  LaunchPlan whole = plan;
  for (Launch& launch : whole.launches) {
    if (launch.kernel != original_.signature.name) continue;
    std::vector<std::string> arguments = std::move(launch.arguments);
    launch = substituted(changed.launches.front(), to_sizes_);
    launch.arguments = std::move(arguments);
  }
  return whole;
}

}  // namespace regraph::rewrite
