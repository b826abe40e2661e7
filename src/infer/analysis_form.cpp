#include "infer/analysis_form.h"

#include "rewrite/forms/normal_form.h"
#include "source/build.h"
#include "source/walk.h"

#include <fmt/format.h>

#include <charconv>
#include <set>

namespace regraph::infer {

using source::Block;
using source::Expr;
using source::ExprKind;
using source::ExprPtr;
using source::Stmt;
using source::StmtKind;
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
    if (stmt->kind == StmtKind::declare) declared.insert(stmt->variable.name);
    const bool assigns = stmt->kind == StmtKind::assign && stmt->text == "=" &&
                         stmt->target->kind == ExprKind::variable &&
                         declared.contains(stmt->target->text);
    if (!assigns) {
      const Block one = current({stmt});
      result.insert(result.end(), one.begin(), one.end());
      continue;
    }
    ExprPtr value = stmt->value;
    for (const auto& [name, newer] : renamed)
      value = source::rewrite_expr(value, source::replace_variable(name, source::variable(newer)));
    const std::string name = stmt->target->text;
    const std::string newer = fmt::format("{}@{}", name, ++number);
    std::erase_if(renamed, [&](const auto& pair) { return pair.first == name; });
    renamed.emplace_back(name, newer);
    source::Variable variable;
    variable.name = newer;
    variable.type = "int";
    variable.scalar = stmt->target->type;
    result.push_back(source::declare(std::move(variable), std::move(value)));
  }
  return result;
}

// threadIdx.x / 32 and threadIdx.x % 32 as variables.
Block with_named_fractions(const Block& body) {
  return source::rewrite_expressions(body, [](const ExprPtr& expr) -> std::optional<ExprPtr> {
    if (expr->kind != ExprKind::binary || (expr->text != "/" && expr->text != "%"))
      return std::nullopt;
    const Expr* index = expr->operands[0].get();
    while (index->kind == ExprKind::cast)
      index = index->operands[0].get();
    const Expr& divisor = *expr->operands[1];
    const bool named = index->kind == ExprKind::builtin && index->text.starts_with("threadIdx.") &&
                       divisor.kind == ExprKind::integer && divisor.number > 0;
    if (!named) return std::nullopt;
    return source::variable(fmt::format("{}{}{}", index->text, expr->text, divisor.number));
  });
}

}  // namespace

source::Kernel analysis_form(const source::Kernel& kernel) {
  source::Kernel result = kernel;
  result.body = with_one_value_a_name(result);
  if (auto body = rewrite::without_early_returns(result.body)) result.body = *std::move(body);
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
