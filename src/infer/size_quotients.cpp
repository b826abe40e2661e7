#include "infer/size_quotients.h"

#include "source/analysis.h"
#include "source/walk.h"

#include <algorithm>
#include <set>

namespace regraph::infer {

using source::as;
using source::BinaryOperator;
using source::Expr;

namespace {

// The integer parameter that an expression is, through casts and names; empty: none.
std::string parameter_behind(const source::Kernel& kernel, const source::Analysis& analysis,
                             const Expr* expr) {
  constexpr int kMostNames = 4;
  for (int depth = 0; depth < kMostNames && expr != nullptr; ++depth) {
    while (const auto* cast = as<source::Cast>(expr))
      expr = cast->operand.get();
    const auto* variable = as<source::VariableReference>(expr);
    if (variable == nullptr) return "";
    const source::KernelParameter* parameter = kernel.parameter(variable->name);
    if (parameter != nullptr) return parameter->is_pointer ? "" : parameter->name;
    expr = analysis.definition(variable->name).get();
  }
  return "";
}

// The parameters among the terms of a sum that is subtracted from.
void add_terms(const source::Kernel& kernel, const source::Analysis& analysis, const Expr* expr,
               std::set<std::string>& names) {
  while (const auto* cast = as<source::Cast>(expr))
    expr = cast->operand.get();
  const auto* sum = as<source::Binary>(expr);
  if (sum != nullptr && sum->op == BinaryOperator::add) {
    add_terms(kernel, analysis, sum->left.get(), names);
    add_terms(kernel, analysis, sum->right.get(), names);
    return;
  }
  std::string name = parameter_behind(kernel, analysis, expr);
  if (!name.empty()) names.insert(std::move(name));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> size_quotients(const source::Kernel& kernel) {
  const source::Analysis analysis(kernel);
  std::vector<std::pair<std::string, std::string>> result;
  source::walk_expressions(kernel.body, [&](const Expr& expr) {
    const auto* quotient = as<source::Binary>(expr);
    if (quotient == nullptr || quotient->op != BinaryOperator::divide) return;
    std::pair<std::string, std::string> one = {
        parameter_behind(kernel, analysis, quotient->left.get()),
        parameter_behind(kernel, analysis, quotient->right.get())};
    if (one.first.empty() || one.second.empty() || one.first == one.second) return;
    if (std::ranges::find(result, one) == result.end()) result.push_back(std::move(one));
  });
  return result;
}

std::vector<std::string> small_sizes(const source::Kernel& kernel) {
  const source::Analysis analysis(kernel);
  std::set<std::string> subtracted;
  std::set<std::string> larger;
  source::walk_expressions(kernel.body, [&](const Expr& expr) {
    const auto* difference = as<source::Binary>(expr);
    if (difference == nullptr || difference->op != BinaryOperator::subtract) return;
    const std::string small = parameter_behind(kernel, analysis, difference->right.get());
    std::set<std::string> terms;
    add_terms(kernel, analysis, difference->left.get(), terms);
    terms.erase(small);
    if (small.empty() || terms.empty()) return;
    subtracted.insert(small);
    larger.merge(terms);
  });
  std::vector<std::string> result;
  std::ranges::set_difference(subtracted, larger, std::back_inserter(result));
  return result;
}

}  // namespace regraph::infer
