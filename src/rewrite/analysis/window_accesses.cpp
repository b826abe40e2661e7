#include "rewrite/analysis/window_accesses.h"

#include "affine/index_range.h"
#include "rewrite/forms/kernel_state.h"
#include "source/build.h"
#include "source/known_functions.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <utility>

namespace regraph::rewrite {

namespace {

class AccessCollector {
 public:
  AccessCollector(const KernelForm& form, const Dim3& block, const Problem& problem)
      : analysis_(form.analysis), block_(block), problem_(problem) {}

  Result<std::vector<WindowAccess>> run(const WindowNest& nest) {
    for (const WindowUpdate& update : nest.updates) {
      if (Status status = collect(update); !status) return status.error();
    }
    return std::move(result_);
  }

 private:
  // Finds what the update reads.
  Status collect(const WindowUpdate& update) { return collect(added_by(update), {}, update); }

  Status collect(const ExprPtr& expr, const std::vector<ExprPtr>& conditions,
                 const WindowUpdate& update) {
    if (const auto* choice = as<Conditional>(expr)) {
      const bool zero_else = is_zero(choice->otherwise);
      if (zero_else || is_zero(choice->then)) {
        std::vector<ExprPtr> inside = conditions;
        const ExprPtr holds = zero_else ? choice->condition : negate(choice->condition);
        for (const ExprPtr& term : conjuncts(holds))
          inside.push_back(term);
        const ExprPtr& value = zero_else ? choice->then : choice->otherwise;
        if (!is<Subscript>(widened(value)))
          return refuse("a choice is not between an element and zero");
        if (analysis_.reads_memory(choice->condition)) return refuse("a choice reads memory");
        return collect(value, inside, update);
      }
    }
    if (const auto* access = as<Subscript>(expr)) {
      const auto* base = as<VariableReference>(access->base);
      if (base == nullptr || !analysis_.is_global_pointer(base->name)) {
        const bool stays = !analysis_.reads_memory(expr) || is_constant_element(*access);
        return stays ? Status() : refuse("it reads more than elements of buffers");
      }
      result_.push_back({base->name, access->index, conditions, &update});
      return {};
    }
    const auto* call = as<Call>(expr);
    if (call != nullptr && source::call_reads(*call)) return refuse("a call may read memory");
    Status result;
    for_each_operand(*expr, [&](const ExprPtr& operand) {
      if (result) result = collect(operand, conditions, update);
    });
    return result;
  }

  // Whether it is an element of a __constant__ array, and inside it whatever guards say.
  bool is_constant_element(const Subscript& access) const {
    const auto* base = as<VariableReference>(access.base);
    if (base == nullptr || analysis_.local(base->name) != nullptr) return false;
    const auto symbol =
        std::find_if(problem_.arguments.begin(), problem_.arguments.end(),
                     [&](const Argument& one) { return one.is_symbol && one.name == base->name; });
    if (symbol == problem_.arguments.end()) return false;
    const auto count = symbol->element_count({});
    const auto range = range_of(access.index, analysis_, block_);
    return count && range && range->low >= 0 && range->high < *count;
  }

  const Analysis& analysis_;
  const Dim3& block_;
  const Problem& problem_;
  std::vector<WindowAccess> result_;
};

}  // namespace

Result<std::vector<WindowAccess>> window_accesses(const KernelForm& form, const WindowNest& nest,
                                                  const Dim3& block, const Problem& problem) {
  return AccessCollector(form, block, problem).run(nest);
}

}  // namespace regraph::rewrite
