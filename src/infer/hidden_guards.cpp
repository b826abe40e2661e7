#include "infer/hidden_guards.h"

#include "affine/varying.h"
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
constexpr std::array<const char*, 3> kThreadNumbers = {"threadIdx.x", "threadIdx.y", "threadIdx.z"};

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

std::string condition_text(const ExprPtr& condition, int line) {
  std::string text = fmt::format("'{}'", source::print(condition));
  if (line > 0) text += fmt::format(" (line {})", line);
  return text;
}

// The first conditions that ask about a block's number, as "'a' (line 3), 'b' (line 5)".
std::string conditions_on(const source::Kernel& kernel, const std::string& number) {
  constexpr int kMost = 2;
  std::string text;
  int count = 0;
  const std::set<std::string> varying = affine::varying_names(kernel, number);
  source::walk(kernel.body, [&](const source::Stmt& stmt) {
    const auto* branch = source::as<source::Branch>(stmt);
    if (branch == nullptr || count == kMost) return;
    if (!affine::is_varying(branch->condition, number, varying)) return;
    text += text.empty() ? "" : ", ";
    text += condition_text(branch->condition, stmt.line);
    ++count;
  });
  return text;
}

// Integer parameters in conditions that depend on a block's number.
std::set<std::string> parameters_that_decide(const AccessSummary& summary) {
  std::set<std::string> names;
  for (const char* number : kBlockNumbers) {
    const std::set<std::string> varying = affine::varying_names(summary.kernel(), number);
    const auto look = [&](const ExprPtr& condition) {
      if (affine::is_varying(condition, number, varying))
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

bool reads_memory(const ExprPtr& expr) {
  bool reads = false;
  source::walk(expr, [&](const Expr& one) {
    reads = reads || source::is<source::Subscript>(one) || source::is<source::Call>(one);
  });
  return reads;
}

// A size as an expression of parameters and numbers.
std::optional<IntegerExpression> size_expression(const source::Kernel& kernel,
                                                 const ExprPtr& expr) {
  if (reads_memory(expr)) return std::nullopt;
  auto size = IntegerExpression::parse(source::print(expr));
  if (!size.ok()) return std::nullopt;
  for (const std::string& name : size->symbols()) {
    const bool parameter = std::ranges::any_of(
        kernel.parameters, [&](const auto& each) { return each.name == name && !each.is_pointer; });
    if (!parameter) return std::nullopt;
  }
  // Borders, ranks and filters are compared with small numbers.
  constexpr std::int64_t kLeastExtent = 32;
  constexpr std::int64_t kLargeSize = 4096;
  Symbols large;
  for (const std::string& name : size->symbols())
    large[name] = kLargeSize;
  if (const auto value = size->evaluate(large); !value.ok() || *value < kLeastExtent)
    return std::nullopt;
  return *std::move(size);
}

}  // namespace

std::optional<LikelyExtent> likely_extent(const source::Kernel& kernel, std::size_t axis,
                                          std::uint32_t threads) {
  const std::string number = kBlockNumbers[axis];
  const std::string thread = kThreadNumbers[axis];
  const std::set<std::string> by_block = affine::varying_names(kernel, number);
  const std::set<std::string> by_thread = affine::varying_names(kernel, thread);
  std::optional<LikelyExtent> likely;
  const auto compare = [&](const source::Binary& one, const ExprPtr& compared, const ExprPtr& size,
                           int line) {
    if (likely || !affine::is_varying(compared, number, by_block) || reads_memory(compared) ||
        affine::is_varying(size, number, by_block) || !source::is_comparison(one.op) ||
        one.op == source::BinaryOperator::equal || one.op == source::BinaryOperator::not_equal)
      return;
    auto extent = size_expression(kernel, size);
    if (extent && threads > 1 && affine::is_varying(compared, thread, by_thread)) {
      auto covered =
          IntegerExpression::parse(fmt::format("cdiv({}, b{})", extent->text(), thread.back()));
      if (!covered.ok()) return;
      extent = *std::move(covered);
    }
    if (extent) {
      likely = LikelyExtent{*std::move(extent),
                            condition_text(std::make_shared<source::Binary>(one), line)};
    }
  };
  source::walk(kernel.body, [&](const source::Stmt& stmt) {
    const auto* branch = source::as<source::Branch>(stmt);
    if (branch == nullptr || likely) return;
    source::walk(branch->condition, [&](const Expr& expr) {
      const auto* binary = source::as<source::Binary>(expr);
      if (binary == nullptr) return;
      compare(*binary, binary->left, binary->right, stmt.line);
      compare(*binary, binary->right, binary->left, stmt.line);
    });
  });
  return likely;
}

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
