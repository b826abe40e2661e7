#include "infer/hidden_guards.h"

#include "rewrite/analysis/varying.h"
#include "source/printer.h"
#include "source/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace regraph::infer {

using source::Expr;
using source::ExprPtr;

namespace {

constexpr std::array<const char*, 3> kBlockNumbers = {"blockIdx.x", "blockIdx.y", "blockIdx.z"};

void add_parameters(const source::Kernel& kernel, const source::Analysis& analysis,
                    const ExprPtr& expr, int depth, std::set<std::string>& names) {
  constexpr int kDeepestLocal = 6;
  source::walk(expr, [&](const Expr& one) {
    const auto* variable = source::as<source::VariableReference>(one);
    if (variable == nullptr) return;
    const bool parameter = std::ranges::any_of(kernel.parameters, [&](const auto& each) {
      return each.name == variable->name && !each.is_pointer;
    });
    if (parameter) names.insert(variable->name);
    const ExprPtr definition = analysis.definition(variable->name);
    if (!parameter && definition && depth < kDeepestLocal)
      add_parameters(kernel, analysis, definition, depth + 1, names);
  });
}

// The first conditions that ask about a block's number, as "'a' (line 3), 'b' (line 5)".
std::string conditions_on(const source::Kernel& kernel, const std::string& number) {
  constexpr int kMost = 2;
  std::string text;
  int count = 0;
  const std::set<std::string> varying = rewrite::varying_names(kernel, number);
  source::walk(kernel.body, [&](const source::Stmt& stmt) {
    const auto* branch = source::as<source::Branch>(stmt);
    if (branch == nullptr || count == kMost) return;
    if (!rewrite::is_varying(branch->condition, number, varying)) return;
    text += fmt::format("{}'{}'", text.empty() ? "" : ", ", source::print(branch->condition));
    if (stmt.line > 0) text += fmt::format(" (line {})", stmt.line);
    ++count;
  });
  return text;
}

// Integer parameters in conditions that depend on a block's number.
std::set<std::string> parameters_that_decide(const AccessSummary& summary) {
  std::set<std::string> names;
  for (const char* number : kBlockNumbers) {
    const std::set<std::string> varying = rewrite::varying_names(summary.kernel(), number);
    const auto look = [&](const ExprPtr& condition) {
      if (rewrite::is_varying(condition, number, varying))
        add_parameters(summary.kernel(), summary.analysis(), condition, 0, names);
    };
    source::walk(summary.kernel().body, [&](const source::Stmt& stmt) {
      if (const auto* branch = source::as<source::Branch>(stmt)) look(branch->condition);
    });
    source::walk_expressions(summary.kernel().body, [&](const Expr& expr) {
      if (const auto* choice = source::as<source::Conditional>(expr)) look(choice->condition);
    });
  }
  return names;
}

}  // namespace

std::optional<std::string> hidden_guard(const source::Kernel& kernel, const AccessSummary& summary,
                                        const std::function<bool(const std::string&)>& has_value) {
  if (std::ranges::all_of(parameters_that_decide(summary), has_value)) return std::nullopt;
  for (const char* number : kBlockNumbers) {
    const std::string conditions = conditions_on(kernel, number);
    if (conditions.empty()) continue;
    return fmt::format("no condition compares {} with a size as '{} < n' does: there is {}", number,
                       number, conditions);
  }
  return std::nullopt;
}

}  // namespace regraph::infer
