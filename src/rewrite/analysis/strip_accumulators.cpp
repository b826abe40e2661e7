#include "rewrite/analysis/strip_accumulators.h"

#include "rewrite/analysis/online_updates.h"
#include "rewrite/forms/kernel_state.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace regraph::rewrite {

using source::Analysis;
using source::as;
using source::Block;
using source::Expr;
using source::ExprPtr;
using source::is;
using source::Kernel;
using source::Stmt;

namespace {

// The block with elements of the kernel's private arrays as if each array were one scalar. What
// holds of the scalar's updates holds of those of any one element.
class AsScalars {
 public:
  explicit AsScalars(const Analysis& analysis) : analysis_(analysis) {}

  Block run(const Block& block) {
    return source::rewrite_expressions(block, [&](const ExprPtr& expr) { return scalar(expr); });
  }

  // The names in the indices that were left out.
  [[nodiscard]] const std::set<std::string>& index_names() const { return index_names_; }

 private:
  std::optional<ExprPtr> scalar(const ExprPtr& expr) {
    if (!is<source::Subscript>(expr)) return std::nullopt;
    std::size_t depth = 0;
    ExprPtr base = expr;
    std::set<std::string> names;
    for (const auto* at = as<source::Subscript>(base); at != nullptr;
         at = as<source::Subscript>(base)) {
      names.merge(source::variables_of(at->index));
      base = at->base;
      ++depth;
    }
    const auto* variable = as<source::VariableReference>(base);
    const source::Variable* array = variable != nullptr ? analysis_.local(variable->name) : nullptr;
    if (array == nullptr || array->storage != source::Storage::automatic || array->is_pointer ||
        array->extents.size() != depth || !array->scalar) {
      return std::nullopt;
    }
    index_names_.merge(names);
    return base;
  }

  const Analysis& analysis_;
  std::set<std::string> index_names_;
};

// Whether all that is written to the variable outside of the loop is the reduction's neutral value.
bool is_neutral_before(const Reduction& reduction, const StripLoop& strips, const Kernel& kernel) {
  const ExprPtr neutral = reduction.neutral();
  if (!neutral) return true;
  std::set<const Stmt*> inside;
  source::walk(body_of(*strips.loop), [&](const Stmt& stmt) { inside.insert(&stmt); });
  bool all = true;
  source::walk(kernel.body, [&](const Stmt& stmt) {
    if (inside.contains(&stmt)) return;
    const auto* declaration = as<source::Declaration>(stmt);
    if (declaration != nullptr && declaration->variable.name == reduction.variable) {
      all = all && (!declaration->value || source::equal(declaration->value, neutral));
      return;
    }
    const auto* assignment = as<source::Assignment>(stmt);
    const auto* base = assignment != nullptr ? source::base_variable(*assignment->target) : nullptr;
    if (base == nullptr || base->name != reduction.variable) return;
    all = all && assignment->op == source::AssignmentOperator::assign &&
          source::equal(assignment->value, neutral);
  });
  return all;
}

// Whether the kernel says where the variable lies, so that it may change unseen.
bool is_given_away(const std::string& name, const Kernel& kernel) {
  bool found = false;
  source::walk_expressions(kernel.body, [&](const Expr& node) {
    source::for_each_passed_place(node, [&](const Expr& place) {
      const auto* variable = source::place_variable(place);
      found = found || variable == nullptr || variable->name == name;
    });
  });
  return found;
}

}  // namespace

Result<std::vector<StripAccumulator>> accumulators_of(const StripLoop& strips, const Kernel& kernel,
                                                      const Analysis& analysis) {
  auto online = online_updates(strips.use, analysis);
  if (!online) return online.error();
  AsScalars as_scalars(analysis);
  source::ForLoop loop(source::to<source::ForLoop>(*strips.loop));
  loop.body = as_scalars.run(online->rest);
  auto effects = effects_of(loop, analysis);
  if (!effects) return effects.error();
  if (!effects->stored.empty())
    return refuse("the strips write '" + *effects->stored.begin() + "'");
  if (effects->reductions.empty()) return refuse("the strips add nothing up");
  std::vector<StripAccumulator> result;
  std::vector<Reduction> reductions = effects->reductions;
  for (Reduction& sum : scaled_sums(*online))
    reductions.push_back(std::move(sum));
  for (const Reduction& reduction : reductions) {
    if (as_scalars.index_names().contains(reduction.variable)) {
      return refuse("'" + reduction.variable + "' is read before the loop is over");
    }
    if (is_given_away(reduction.variable, kernel))
      return refuse("the address of '" + reduction.variable + "' is passed on");
    const bool is_asked =
        strips.active && source::variables_of(strips.active).contains(reduction.variable);
    if (is_asked || source::variables_of(strips.counted.limit).contains(reduction.variable))
      return refuse("'" + reduction.variable + "' says which strips there are");
    StripAccumulator accumulator;
    accumulator.reduction = reduction;
    accumulator.extents = analysis.local(reduction.variable)->extents;
    accumulator.starts_neutral = is_neutral_before(reduction, strips, kernel);
    result.push_back(std::move(accumulator));
  }
  return result;
}

}  // namespace regraph::rewrite
