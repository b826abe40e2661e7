#include "rewrite/analysis/maximum_loop.h"

#include "rewrite/analysis/mentions.h"
#include "rewrite/analysis/reduction_loop.h"
#include "source/match.h"

#include <string>

namespace regraph::rewrite {

using source::Analysis;
using source::as;
using source::Assignment;
using source::BinaryOperator;
using source::Block;
using source::Call;
using source::ExprPtr;
using source::ForLoop;
using source::is_named;
using source::StmtPtr;

namespace {

bool is_maximum(const Reduction& reduction) {
  if (reduction.kind == Reduction::Kind::comparison)
    return reduction.relation == BinaryOperator::greater;
  return reduction.kind == Reduction::Kind::function &&
         (reduction.function == "fmaxf" || reduction.function == "fmax" ||
          reduction.function == "max");
}

// m = fmaxf(m, value), m = value > m ? value : m, if (value > m) m = value; null for others.
ExprPtr updating_value(const StmtPtr& stmt, const std::string& name) {
  if (const auto* branch = as<source::Branch>(stmt))
    return branch->body.size() == 1 ? value_of(*branch->body.front()) : nullptr;
  const auto* assignment = as<Assignment>(stmt);
  if (assignment == nullptr) return nullptr;
  if (const auto* call = as<Call>(assignment->value))
    return is_named(call->arguments[0], name) ? call->arguments[1] : call->arguments[0];
  const auto* choice = as<source::Conditional>(assignment->value);
  if (choice == nullptr) return nullptr;
  return is_named(choice->then, name) ? choice->otherwise : choice->then;
}

}  // namespace

std::optional<MaximumLoop> maximum_loop_of(const StmtPtr& stmt, const Analysis& analysis) {
  const auto* loop = as<ForLoop>(stmt);
  const auto counted = source::counted_loop_of(*stmt);
  if (loop == nullptr || !counted) return std::nullopt;
  const auto effects = effects_of(*loop, analysis);
  if (!effects || effects->reductions.size() != 1 || !effects->selections.empty() ||
      !effects->stored.empty()) {
    return std::nullopt;
  }
  MaximumLoop result{stmt, *counted, effects->reductions.front(), 0, nullptr};
  if (!is_floating(result.maximum.scalar) || !is_maximum(result.maximum)) return std::nullopt;
  std::size_t updates = 0;
  for (std::size_t at = 0; at < loop->body.size(); ++at) {
    if (!is_mentioned(Block{loop->body[at]}, result.maximum.variable)) continue;
    result.update = at;
    result.value = updating_value(loop->body[at], result.maximum.variable);
    ++updates;
  }
  return updates == 1 && result.value ? std::optional(result) : std::nullopt;
}

}  // namespace regraph::rewrite
