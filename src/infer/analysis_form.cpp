#include "infer/analysis_form.h"

#include "rewrite/forms/addressed_elements.h"
#include "rewrite/forms/early_exits.h"
#include "rewrite/forms/induction_variables.h"
#include "rewrite/forms/local_pointers.h"
#include "rewrite/forms/moved_parameters.h"
#include "rewrite/forms/named_conditions.h"
#include "rewrite/forms/packed_elements.h"
#include "rewrite/forms/single_assignment.h"
#include "rewrite/forms/webs.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/walk.h"

#include <fmt/format.h>

#include <charconv>
#include <set>

namespace regraph::infer {

using source::as;
using source::Block;
using source::Expr;
using source::ExprPtr;
using source::StmtPtr;

namespace {

// Names the values of locals that top-level statements assign one after the other.
Block with_one_value_a_name(const source::Kernel& kernel) {
  Block result;
  std::set<std::string> declared;
  std::vector<std::pair<std::string, std::string>> renamed;  // current names
  int number = 0;
  const auto current = [&](const Block& block) {
    Block rewritten = block;
    for (const auto& [name, newer] : renamed)
      rewritten = source::rewrite_expressions(
          rewritten, source::replace_variable(name, source::variable(newer)));
    return rewritten;
  };
  for (const StmtPtr& stmt : kernel.body) {
    if (const auto* declaration = as<source::Declaration>(stmt))
      declared.insert(declaration->variable.name);
    const auto* assignment = as<source::Assignment>(stmt);
    const auto* target =
        assignment != nullptr ? as<source::VariableReference>(assignment->target) : nullptr;
    const bool assigns = target != nullptr &&
                         assignment->op == source::AssignmentOperator::assign &&
                         declared.contains(target->name);
    if (!assigns) {
      const Block one = current({stmt});
      result.insert(result.end(), one.begin(), one.end());
      continue;
    }
    ExprPtr value = assignment->value;
    for (const auto& [name, newer] : renamed)
      value = source::rewrite_expr(value, source::replace_variable(name, source::variable(newer)));
    const std::string name = target->name;
    const std::string newer = fmt::format("{}@{}", name, ++number);
    std::erase_if(renamed, [&](const auto& pair) { return pair.first == name; });
    renamed.emplace_back(name, newer);
    result.push_back(source::declare(source::local_variable(newer, "int", target->type), value));
  }
  return result;
}

// threadIdx.x / 32 and threadIdx.x % 32 as variables.
Block with_named_fractions(const Block& body) {
  return source::rewrite_expressions(body, [](const ExprPtr& expr) -> std::optional<ExprPtr> {
    const auto* fraction = as<source::Binary>(expr);
    if (fraction == nullptr || (fraction->op != source::BinaryOperator::divide &&
                                fraction->op != source::BinaryOperator::remainder)) {
      return std::nullopt;
    }
    const Expr* inner = fraction->left.get();
    while (const auto* cast = as<source::Cast>(inner))
      inner = cast->operand.get();
    const auto* index = as<source::Builtin>(inner);
    const auto* divisor = as<source::IntegerLiteral>(fraction->right);
    if (index == nullptr || !index->name.starts_with("threadIdx.") || divisor == nullptr ||
        divisor->value <= 0) {
      return std::nullopt;
    }
    return source::variable(
        fmt::format("{}{}{}", index->name, source::spelling(fraction->op), divisor->value));
  });
}

}  // namespace

source::Kernel indexed_form(const source::Kernel& kernel) {
  if (source::Analysis(kernel).opaque()) return kernel;
  source::Kernel result = kernel;
  result.body = rewrite::with_plain_loads(result);
  result.body = rewrite::with_packed_elements(result);
  result.body = rewrite::without_moved_parameters(result);
  result.body = rewrite::with_single_assignments(result);
  result = rewrite::with_webs_declared(result);
  result.body = rewrite::without_induction_variables(result);
  return rewrite::without_local_pointers(result);
}

source::Kernel analysis_form(const source::Kernel& kernel) {
  source::Kernel result = kernel;
  result.body = with_one_value_a_name(result);
  result.body = rewrite::with_conditions_written_out(result);
  if (auto body = rewrite::without_early_returns(result.body)) result.body = *std::move(body);
  result.body = rewrite::without_continues(result.body);
  result.body = with_named_fractions(result.body);
  return result;
}

std::optional<ThreadFraction> thread_fraction(const std::string& name) {
  const std::size_t sign = name.find_first_of("/%");
  if (!name.starts_with("threadIdx.") || sign == std::string::npos) return std::nullopt;
  ThreadFraction fraction;
  fraction.index = name.substr(0, sign);
  fraction.is_quotient = name[sign] == '/';
  const char* last = name.data() + name.size();
  if (std::from_chars(name.data() + sign + 1, last, fraction.divisor).ptr != last)
    return std::nullopt;
  return fraction;
}

}  // namespace regraph::infer
