#include "rewrite/grid_guard.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "rewrite/guarded_access.h"
#include "rewrite/legality.h"
#include "source/build.h"
#include "source/walk.h"

namespace regraph::rewrite {

using source::Analysis;
using source::Expr;
using source::ExprKind;
using source::ExprPtr;
using source::Kernel;
using source::Stmt;
using source::StmtKind;

bool grid_is_guarded(const Kernel& kernel, const Analysis& analysis, const Launch& launch, int axis) {
  const std::string letter = kAxes[static_cast<std::size_t>(axis)];
  const IntegerExpression block_symbol = IntegerExpression::symbol("b" + letter);
  auto rules_out = [&](const ExprPtr& guard) {
    if (guard->kind != ExprKind::binary || guard->text != "<") return false;
    const auto index = analysis.polynomial(guard->operands[0]);
    const auto limit = analysis.polynomial(guard->operands[1]);
    if (!index || !limit || limit->terms().size() != 1) return false;
    const auto& [monomial, factor] = *limit->terms().begin();
    if (monomial.size() != 1 || factor != 1) return false;
    for (const auto& [term, coefficient] : index->terms()) {
      if (coefficient < 0) return false;
    }
    // index = blockIdx.a * (merged * blockDim.a) + something >= 0
    const auto pitch = index->coefficient("blockIdx." + letter);
    if (!pitch || pitch->terms().size() != 1) return false;
    const auto& [pitch_monomial, merged] = *pitch->terms().begin();
    if (pitch_monomial != source::Monomial{"blockDim." + letter}) return false;
    const IntegerExpression covered = IntegerExpression::ceil_divide(
        IntegerExpression::symbol(monomial[0]),
        IntegerExpression::multiply(block_symbol, IntegerExpression(merged)));
    return launch.grid[static_cast<std::size_t>(axis)] == covered;
  };
  bool guarded = true;
  for_each_guarded_access(kernel.body, [&](const GuardedAccess& access) {
    const Expr* base = source::base_variable(*access.access);
    const bool is_register_or_shared =
        base != nullptr && analysis.local(base->text) != nullptr && !analysis.local(base->text)->is_pointer;
    if (is_register_or_shared) return;
    guarded = guarded && std::any_of(access.guards.begin(), access.guards.end(), rules_out);
  });
  source::walk(kernel.body, [&](const Stmt& stmt) {
    // Atomics and calls are not index expressions of their own; take them as unguarded.
    if (stmt.kind == StmtKind::evaluate && !source::is_warp_intrinsic(stmt.value->text)) guarded = false;
  });
  return guarded;
}

ExprPtr grid_extent(const Launch& launch, int axis, const Kernel& kernel) {
  const IntegerExpression fixed = launch.grid[static_cast<std::size_t>(axis)].substitute(
      {{"bx", IntegerExpression(launch.block.x)},
       {"by", IntegerExpression(launch.block.y)},
       {"bz", IntegerExpression(launch.block.z)}});
  auto atom = [&](const std::string& text) -> ExprPtr {
    if (!text.empty() && std::all_of(text.begin(), text.end(), ::isdigit)) {
      return text.size() < 10 ? source::integer(std::stoll(text)) : nullptr;
    }
    const source::KernelParameter* parameter = kernel.parameter(text);
    const bool usable = parameter != nullptr && !parameter->is_pointer && parameter->scalar &&
                        !is_floating(*parameter->scalar);
    return usable ? source::variable(text, parameter->scalar) : nullptr;
  };
  const std::string text = fixed.text();
  if (const ExprPtr whole = atom(text)) return whole;
  if (!text.starts_with("cdiv(") || !text.ends_with(")")) return nullptr;
  const std::size_t comma = text.find(", ");
  if (comma == std::string::npos) return nullptr;
  const ExprPtr numerator = atom(text.substr(5, comma - 5));
  const ExprPtr divisor = atom(text.substr(comma + 2, text.size() - comma - 3));
  if (!numerator || !divisor || divisor->kind != ExprKind::integer) return nullptr;
  return source::binary("/", source::binary("+", numerator, source::integer(divisor->number - 1)),
                        divisor);
}

}  // namespace regraph::rewrite
