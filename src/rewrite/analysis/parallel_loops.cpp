#include "rewrite/analysis/parallel_loops.h"

#include "affine/block_geometry.h"
#include "affine/guarded_access.h"
#include "affine/size_expression.h"
#include "rewrite/analysis/loop_surroundings.h"
#include "rewrite/analysis/refusal_place.h"
#include "source/walk.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace regraph::rewrite {

namespace {

class LoopFinder {
 public:
  LoopFinder(const KernelAnalysis& kernel, const KernelForm& form, const Launch& launch)
      : kernel_(kernel),
        form_(form),
        overlap_(form.kernel, form.analysis, launch, kernel.problem()) {}

  Result<std::vector<ParallelLoop>> find() {
    std::vector<ParallelLoop> result;
    std::optional<Error> reason;  // of the first loop that counts, if any does
    bool is_counted = false;
    walk(form_.kernel.body, [&](const Stmt& stmt) {
      const auto* loop = as<ForLoop>(stmt);
      if (loop == nullptr) return;
      auto found = qualified(*loop);
      if (found) {
        result.push_back(std::move(*found));
      } else if (!reason || !is_counted) {
        is_counted = counted_loop_of(stmt).has_value();
        if (!reason || is_counted) reason = found.error();
      }
    });
    if (!result.empty()) return result;
    return reason ? *reason : refuse("the kernel has no loop");
  }

 private:
  Result<ParallelLoop> qualified(const ForLoop& loop) const {
    const auto counted = counted_loop_of(loop);
    if (!counted) return refuse(line_named(loop) + "not a loop that counts up to a limit");
    if (loop.line == 0 && loop.unroll == kUnrollFully)
      return refuse("its iterations were given to one thread by another step");
    const auto& type = loop.declaration()->variable.scalar;
    if (type != ScalarType::i32 && type != ScalarType::u32)
      return refuse(line_named(loop) + "its counter is no 32-bit integer");
    ParallelLoop result{&loop, *counted, {}, {}, 0, 0, 0};
    auto effects = independent_iterations(loop, *counted, form_.analysis, overlap_);
    if (!effects) return effects.error();
    result.effects = std::move(*effects);
    if (Status status = read_bounds(result); !status) return status.error();
    if (const auto why = obstacle_around(loop, form_.kernel, form_.analysis, result.effects))
      return refuse(line_named(loop) + *why);
    return result;
  }

  Status read_bounds(ParallelLoop& result) const {
    const std::string at = line_named(*result.loop);
    const auto first = form_.analysis.polynomial(result.counted.first);
    const auto limit = form_.analysis.polynomial(result.counted.limit);
    if (!first || !limit || !is_of_parameters(*first, form_.kernel) ||
        !is_of_parameters(*limit, form_.kernel))
      return refuse(at + "its bounds are not made of the kernel's parameters alone");
    result.span = *limit - *first;
    auto span = size_of(result.span, kernel_.problem());
    if (!span) return refuse(at + "how often it runs does not follow from the sizes");
    result.iterations =
        IntegerExpression::ceil_divide(*span, IntegerExpression(result.counted.stride));
    if (const auto trips = result.counted.trip_count()) result.iterations = *trips;
    bool is_first = true;
    for (const Symbols& symbols : all_sizes(kernel_.problem())) {
      const auto span_here = span->evaluate(symbols);
      if (!span_here) return refuse(at + span_here.error().message);
      const std::int64_t count = (*span_here + result.counted.stride - 1) / result.counted.stride;
      result.least = is_first ? count : std::min(result.least, count);
      result.most = is_first ? count : std::max(result.most, count);
      is_first = false;
    }
    if (result.most < 2) return refuse(at + "it has only one iteration");
    return {};
  }

  const KernelAnalysis& kernel_;
  const KernelForm& form_;
  const IterationOverlap overlap_;
};

}  // namespace

bool iterations_lie_closer(const KernelForm& form, const ParallelLoop& loop, const Launch& launch,
                           const Problem& problem) {
  const auto distance = [&](const Polynomial& index, const std::string& symbol) {
    const auto pitch = with_block_extents(index, launch.block).coefficient(symbol);
    return pitch ? std::abs(estimate(*pitch, problem)) : 0.0;
  };
  int closer = 0;
  for_each_guarded_access(loop.loop->body, [&](const GuardedAccess& access) {
    const auto* base = base_variable(*access.access);
    if (base == nullptr || !form.analysis.is_global_pointer(base->name)) return;
    const auto index = form.analysis.polynomial(access.access->index);
    if (!index) return;
    const double by_thread = distance(*index, "threadIdx.x");
    const double by_iteration = distance(*index, loop.counted.name);
    if (by_thread == 0 || by_iteration == 0) return;  // the same for all
    closer += by_iteration < by_thread ? 1 : by_iteration > by_thread ? -1 : 0;
  });
  return closer >= 0;
}

Result<std::vector<ParallelLoop>> parallel_loops(const KernelAnalysis& kernel) {
  auto launch = kernel.launch();
  if (!launch) return launch.error();
  auto form = kernel.single_exit();
  if (!form) return form.error();
  return LoopFinder(kernel, **form, **launch).find();
}

}  // namespace regraph::rewrite
